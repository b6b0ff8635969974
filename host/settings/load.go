package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"token-terminator/ledger/split"
)

// Prefix begins the name of every variable of ours.
const Prefix = "TOKEN_TERMINATOR_"

// oldPrefix began them once.
const oldPrefix = "RTK_HERMES_PLUS_"

// Where values come from.
const (
	originDefault = "default"
	originFile    = "config.toml"
	originEnv     = "environment"
	originFlag    = "flag"
)

// Sources are where values may come from.
type Sources struct {
	Flags map[string]string // by setting name, e.g. "MODE"
	Env   map[string]string // whole names; others than TOKEN_TERMINATOR_* are not looked at
	File  *File             // nil: none
}

// ErrFlag says that a flag has a value it may not have.
var ErrFlag = errors.New("bad setting")

// Load puts the sources together. Only flags can make it fail: config.toml was checked
// when it was read, and an environment never stops anything.
func Load(src Sources) (Settings, error) { return build(src, nil) }

// ForSession gives the settings of one session: its own environment in the place of
// the daemon's. What belongs to the daemon stays as it is.
func (s Settings) ForSession(env map[string]string) Settings {
	next, err := build(Sources{Flags: s.src.Flags, Env: env, File: s.src.File}, &s)
	if err != nil { // the same flags were taken before
		return s
	}
	next.src = s.src
	return next
}

// build puts the sources together; with a daemon, what belongs to it is taken from there.
func build(src Sources, daemon *Settings) (Settings, error) {
	s := Settings{origins: map[string]string{}, src: src}
	for _, sp := range table {
		if err := sp.fromText(&s, sp.def); err != nil {
			return Settings{}, fmt.Errorf("default of %s: %w", sp.name, err)
		}
	}
	src.File.apply(&s)
	s.environment(src.Env, daemon)
	for _, name := range slices.Sorted(maps.Keys(src.Flags)) {
		if err := s.flag(name, src.Flags[name]); err != nil {
			return Settings{}, err
		}
	}
	if daemon != nil {
		for _, sp := range table {
			if sp.daemon {
				copyValue(sp.at(&s), sp.at(daemon))
				s.origins[sp.name] = daemon.Origin(sp.name)
			}
		}
	}
	s.settle()
	return s, nil
}

func (s *Settings) flag(name, text string) error {
	sp, ok := find(name)
	if !ok {
		return fmt.Errorf("%w: there is no setting %s%s", ErrFlag, name, orNearest(name))
	}
	trial := s.clone() // nothing is taken on an error
	if err := sp.fromText(&trial, text); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFlag, name, err)
	}
	s.origins[name] = originFlag
	return sp.fromText(s, text)
}

func copyValue(to, from any) {
	switch at := to.(type) {
	case *bool:
		*at = *from.(*bool)
	case *string:
		*at = *from.(*string)
	case *[]string:
		*at = slices.Clone(*from.(*[]string))
	default:
		copyNumber(to, from)
	}
}

func (s *Settings) notice(format string, args ...any) {
	s.Notices = append(s.Notices, fmt.Sprintf(format, args...))
}

// environment takes the variables of env. With a daemon, env is a session's.
func (s *Settings) environment(env map[string]string, daemon *Settings) {
	s.convert(env)
	for _, full := range slices.Sorted(maps.Keys(env)) {
		name, ours := strings.CutPrefix(full, Prefix)
		if old, was := strings.CutPrefix(full, oldPrefix); was && !SecretName(full) {
			s.notice("%s is not read any more: use %s%s", bounded(full), Prefix, bounded(old))
		}
		if !ours || strings.TrimSpace(env[full]) == "" || slices.Contains(silent, name) || SecretName(name) || converted(name) {
			continue
		}
		if slices.Contains(ignored, name) {
			s.notice("%s has no effect: markers always show", full)
			continue
		}
		sp, ok := find(name)
		switch {
		case !ok:
			s.notice("%s is no setting%s", bounded(full), orNearest(name))
		case daemon != nil && sp.daemon:
			s.compare(sp, env[full], daemon)
		default:
			s.variable(sp, env[full])
		}
	}
}

// compare says so when a session wants another value of what belongs to the daemon.
func (s *Settings) compare(sp spec, text string, daemon *Settings) {
	trial := daemon.clone()
	if sp.fromText(&trial, text) != nil || fmt.Sprint(sp.value(&trial)) != fmt.Sprint(sp.value(daemon)) {
		s.notice("%s%s is one for the whole daemon; this session's value is not taken", Prefix, sp.name)
	}
}

// variable takes one variable, whatever stands in it.
func (s *Settings) variable(sp spec, text string) {
	err := sp.fromText(s, text)
	switch {
	case err == nil:
	case errors.Is(err, errRange):
		s.notice("%s%s is %v; the nearest that may be is taken", Prefix, sp.name, err)
	case sp.doubt != "":
		s.notice("%s%s cannot be read (%v): %s is taken", Prefix, sp.name, err, sp.doubt)
		if sp.fromText(s, sp.doubt) != nil {
			return
		}
	default:
		s.notice("%s%s cannot be read (%v): it is not taken", Prefix, sp.name, err)
		return
	}
	s.origins[sp.name] = originEnv
}

func converted(name string) bool {
	return slices.ContainsFunc(conversions, func(c replaced) bool { return c.name == name })
}

// convert takes the old variables. Where several become one setting, the largest wins:
// it keeps more. A variable of the setting's own name wins over them.
func (s *Settings) convert(env map[string]string) {
	taken := map[string]float64{}
	for _, c := range conversions {
		text, set := env[Prefix+c.name]
		if !set || strings.TrimSpace(text) == "" {
			continue
		}
		sp, _ := find(c.to)
		if c.to == "RECEIPTS" {
			s.variable(sp, text)
			s.notice("%s%s is taken as %s%s", Prefix, c.name, Prefix, c.to)
			s.origins[c.to] = Prefix + c.name
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(n >= 0 && n <= big) {
			s.notice("%s%s cannot be read: it is not taken", Prefix, c.name)
			continue
		}
		if c.divide > 0 {
			n = float64(int64((n + c.divide - 1) / c.divide))
		}
		if most, seen := taken[c.to]; seen && most >= n {
			n = most
		}
		taken[c.to] = n
		if err := sp.fromText(s, plain(float64(int64(n)))); err != nil && !errors.Is(err, errRange) {
			continue
		}
		s.origins[c.to] = Prefix + c.name
		s.notice("%s%s is taken as %s%s: %v %s", Prefix, c.name, Prefix, c.to, sp.value(s), sp.unit)
	}
}

// settle makes values that depend on each other fit.
func (s *Settings) settle() {
	if s.LowWater >= s.HighWater {
		s.LowWater = max(s.HighWater-10, 1)
		s.notice("VAULT_LOW_WATER_PCT is not under VAULT_HIGH_WATER_PCT: %d is taken", s.LowWater)
	}
	if s.PageChars > s.MaxPageChars {
		s.PageChars = s.MaxPageChars
	}
	if s.IRMinChars > s.IRMaxChars {
		s.IRMinChars = s.IRMaxChars
	}
	if s.Mode == Aggressive && s.Origin("RECEIPT_AGE") == originDefault {
		s.ReceiptAge = aggressiveAge
		s.origins["RECEIPT_AGE"] = "mode aggressive"
	}
	if _, err := s.Split(); err != nil {
		s.notice("%v: there is no experiment", err)
		s.ExperimentArms = nil
	}
	for _, sp := range table {
		if sp.later && s.Origin(sp.name) != originDefault {
			s.notice("%s%s has no effect in this release", Prefix, sp.name)
		}
	}
}

// Split is the experiment of these settings; no arms mean none.
func (s Settings) Split() (split.Experiment, error) {
	e := split.Experiment{Name: s.Experiment, Salt: s.ExperimentSalt}
	if len(s.ExperimentArms) == 0 {
		return e, nil
	}
	for _, item := range s.ExperimentArms {
		name, share, _ := strings.Cut(item, "=")
		percent, err := strconv.Atoi(share)
		if err != nil {
			return split.Experiment{}, errors.New("EXPERIMENT_ARMS: want NAME=PERCENT")
		}
		e.Arms = append(e.Arms, split.Arm{Name: name, Percent: percent})
	}
	return e, e.Validate()
}
