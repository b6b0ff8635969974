package vault

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForecastKnowsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	at := func(days float64) *time.Time {
		moment := now.Add(time.Duration(days * float64(day))).Truncate(time.Second)
		return &moment
	}
	rate := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		oldest, grown, used, capacity int64
		want                          Forecast
	}{
		"an empty vault":           {0, 0, 0, 1000, Forecast{}},
		"younger than a day":       {ago(23 * time.Hour), 100, 100, 1000, Forecast{}},
		"from the future":          {now.Add(time.Hour).UnixMilli(), 100, 100, 1000, Forecast{}},
		"two days old":             {ago(2 * day), 200, 200, 1000, Forecast{rate(100), 2, at(5), at(7)}},
		"a week counts":            {ago(70 * day), 700, 600, 1000, Forecast{rate(100), 7, at(1), at(3)}},
		"does not grow":            {ago(70 * day), 0, 600, 1000, Forecast{rate(0), 7, nil, nil}},
		"warning reached already":  {ago(70 * day), 700, 750, 1000, Forecast{rate(100), 7, nil, at(1.5)}},
		"red already":              {ago(70 * day), 700, 950, 1000, Forecast{rate(100), 7, nil, nil}},
		"too far away to be named": {ago(70 * day), 7, 10, 1 << 50, Forecast{rate(1), 7, nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, forecastOf(now, c.oldest, c.grown, c.used, c.capacity))
		})
	}
	for used, want := range map[int64]string{0: LevelOK, 699: LevelOK, 700: LevelWarning, 899: LevelWarning, 900: LevelRed, 2000: LevelRed} {
		require.Equal(t, want, levelOf(used, 1000))
	}
}

func TestStatusForecastsFromTheLastWeek(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	v, err := Open(t.TempDir(), Options{CapacityBytes: 100_000, Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer func() { require.NoError(t, v.Close()) }()
	for i := range 20 {
		_, err := v.Put(ctx, one(fmt.Sprint("text ", i)))
		require.NoError(t, err)
		now = now.Add(day)
	}
	s, err := v.Status(ctx)
	require.NoError(t, err)
	require.InDelta(t, s.Bytes/20, *s.Forecast.BytesPerDay, float64(s.Bytes)/20/5)
	require.True(t, s.Forecast.WarnAt.After(now) && s.Forecast.RedAt.After(*s.Forecast.WarnAt))
	require.Equal(t, LevelOK, s.Level)
	now = now.Add(-200 * day) // a clock that jumps back promises nothing
	s, err = v.Status(ctx)
	require.NoError(t, err)
	require.Nil(t, s.Forecast.BytesPerDay)
}
