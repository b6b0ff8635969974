package vault

import (
	"context"
	"time"
)

// Levels of fullness, in percent of the capacity.
const (
	WarnPercent = 70
	RedPercent  = 90
)

// How fullness is called.
const (
	LevelOK      = "ok"
	LevelWarning = "warning"
	LevelRed     = "red"
)

const (
	day            = 24 * time.Hour
	forecastWindow = 7 * day
	forecastLeast  = day       // less history tells nothing
	forecastFar    = 100 * 365 // days: further away is not said
)

// Forecast says when a vault that goes on growing as it did gets full. Unknown things
// are nil, not zero: a vault younger than a day, one that does not grow, a level that
// is reached already.
type Forecast struct {
	BytesPerDay *int64     `json:"bytes_per_day"` // of what was stored in the window and is still here
	WindowDays  float64    `json:"window_days"`
	WarnAt      *time.Time `json:"warn_at"` // 70 %
	RedAt       *time.Time `json:"red_at"`  // 90 %
}

// levelOf names the fullness.
func levelOf(used, capacity int64) string {
	switch {
	case used*100 >= capacity*RedPercent:
		return LevelRed
	case used*100 >= capacity*WarnPercent:
		return LevelWarning
	}
	return LevelOK
}

// forecastOf extends the growth of the window in a line.
func forecastOf(now time.Time, oldest, grown, used, capacity int64) Forecast {
	var f Forecast
	age := now.Sub(time.UnixMilli(oldest))
	if oldest == 0 || age < forecastLeast {
		return f
	}
	window := min(age, forecastWindow)
	f.WindowDays = window.Hours() / 24
	rate := int64(float64(grown) / f.WindowDays)
	f.BytesPerDay = &rate
	f.WarnAt = reached(now, rate, capacity/100*WarnPercent-used)
	f.RedAt = reached(now, rate, capacity/100*RedPercent-used)
	return f
}

// reached is when left more bytes will have come; nil for never or already.
func reached(now time.Time, rate, left int64) *time.Time {
	if rate <= 0 || left <= 0 {
		return nil
	}
	days := float64(left) / float64(rate)
	if days > forecastFar {
		return nil
	}
	at := now.UTC().Add(time.Duration(days * float64(day))).Truncate(time.Second)
	return &at
}

// forecast reads the growth. Rows that a wrong clock dated into the future do not count.
func (v *Vault) forecast(ctx context.Context, used int64) (Forecast, error) {
	now := v.o.Now()
	from := now.Add(-forecastWindow).UnixMilli()
	var oldest, grown int64
	err := v.readers.QueryRowContext(ctx, `SELECT coalesce((SELECT min(created) FROM artifacts), 0),
		coalesce((SELECT sum(cost) FROM artifacts WHERE created > ?1 AND created <= ?2), 0) +
		coalesce((SELECT sum(cost) FROM observations WHERE first_seen > ?1 AND first_seen <= ?2), 0) +
		coalesce((SELECT sum(cost) FROM pins WHERE created > ?1 AND created <= ?2), 0) +
		coalesce((SELECT sum(cost) FROM nodes WHERE created > ?1 AND created <= ?2), 0)`, from, now.UnixMilli()).Scan(&oldest, &grown)
	if err != nil {
		return Forecast{}, v.explain("count", err)
	}
	return forecastOf(now, oldest, grown, used, v.o.CapacityBytes), nil
}
