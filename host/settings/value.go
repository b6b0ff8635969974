package settings

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// errRange marks a number that is a number and out of range.
var errRange = errors.New("out of range")

const maxText = 4_096

// fromText sets the value a text says. With errRange the nearest bound was set.
func (sp spec) fromText(s *Settings, text string) error {
	text = strings.TrimSpace(text)
	switch at := sp.at(s).(type) {
	case *bool:
		v, err := readBool(text)
		if err != nil {
			return err
		}
		*at = v
	case *string:
		return sp.setText(at, text)
	case *[]string:
		return sp.setList(at, strings.Split(text, ","))
	default:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return errors.New("want " + sp.wants())
		}
		return sp.setNumber(at, n)
	}
	return nil
}

func readBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, errors.New("want true or false")
}

func (sp spec) setText(at *string, text string) error {
	limit := sp.limit
	if limit == 0 {
		limit = maxText
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || utf8.RuneCountInString(text) > limit {
		return fmt.Errorf("want at most %d characters on one line", limit)
	}
	if len(sp.choices) > 0 {
		i := slices.IndexFunc(sp.choices, func(c string) bool { return strings.EqualFold(c, text) })
		if i < 0 {
			return errors.New("want " + sp.wants())
		}
		text = sp.choices[i]
	}
	*at = text
	return nil
}

func (sp spec) setList(at *[]string, items []string) error {
	out := []string{}
	for _, item := range items {
		var one string
		if err := (spec{limit: 200}).setText(&one, strings.TrimSpace(item)); err != nil {
			return err
		}
		if one != "" && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	if len(out) > 1_000 {
		return errors.New("want at most 1,000 items")
	}
	*at = out
	return nil
}

func (sp spec) setNumber(to any, n float64) error {
	_, whole := to.(*float64)
	if !whole && n != math.Trunc(n) {
		return errors.New("want " + sp.wants())
	}
	bounded := min(max(n, sp.min), sp.max)
	switch at := to.(type) {
	case *int:
		*at = int(bounded)
	case *int64:
		*at = int64(bounded)
	case *float64:
		*at = bounded
	case *time.Duration:
		*at = time.Duration(bounded) * sp.step
	}
	if bounded != n {
		return fmt.Errorf("%w: want %s", errRange, sp.wants())
	}
	return nil
}

// fromTOML sets a decoded value of config.toml: a bool, int64, float64, string or
// []string of the setting's own type.
func (sp spec) fromTOML(s *Settings, v any) error {
	switch at := sp.at(s).(type) {
	case *bool:
		*at = v.(bool)
		return nil
	case *string:
		text := v.(string)
		if sp.path && text != "" && !filepath.IsAbs(text) {
			return errors.New("want an absolute path")
		}
		return sp.setText(at, text)
	case *[]string:
		return sp.setList(at, v.([]string))
	case *float64:
		return sp.setNumber(at, v.(float64))
	default:
		return sp.setNumber(at, float64(v.(int64)))
	}
}

// wants says in words what the value may be.
func (sp spec) wants() string {
	switch sp.at(&Settings{}).(type) {
	case *bool:
		return "true or false"
	case *[]string:
		return "a list of texts"
	case *string:
		switch {
		case len(sp.choices) > 0:
			named := slices.DeleteFunc(slices.Clone(sp.choices), func(c string) bool { return c == "" })
			return "one of " + strings.Join(named, ", ")
		case sp.path:
			return "a path"
		}
		return "a text"
	case *float64:
		return "a number " + sp.bounds()
	}
	return "a whole number " + sp.bounds()
}

func (sp spec) bounds() string { return "from " + plain(sp.min) + " to " + plain(sp.max) }

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// value is what config show and status print: durations in the setting's unit.
func (sp spec) value(s *Settings) any {
	switch at := sp.at(s).(type) {
	case *bool:
		return *at
	case *int:
		return *at
	case *int64:
		return *at
	case *float64:
		return *at
	case *string:
		return *at
	case *[]string:
		return slices.Clone(*at)
	case *time.Duration:
		return int64(*at / sp.step)
	}
	panic("settings: " + sp.name + " has a type nobody reads")
}
