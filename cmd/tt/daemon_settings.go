package main

import (
	"strconv"
	"strings"

	"token-terminator/host"
	"token-terminator/host/wire"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/tokens"
)

// sessionSettings are the settings of the sessions of one connection, as its hello
// gave them. They never change.
type sessionSettings struct {
	key      string // equal settings have equal keys
	compile  compile.Settings
	pricing  pricing
	requests bool // provider requests are compiled
	results  bool // results are shown smaller where the host hands them over
	observe  bool // everything is measured, nothing changed
	window   int  // tokens of input the model takes; 0 unknown
	replay   bool // recorded sessions: the clock says nothing about the cache
}

// settingWord is a setting's name without the prefix.
func settingWord(env map[string]string, name string) string {
	return strings.TrimSpace(env[host.SettingPrefix+name])
}

func settingOff(env map[string]string, name string) bool {
	switch strings.ToLower(settingWord(env, name)) {
	case "false", "0", "off", "no":
		return true
	}
	return false
}

func settingOn(env map[string]string, name string) bool {
	switch strings.ToLower(settingWord(env, name)) {
	case "true", "1", "on", "yes":
		return true
	}
	return false
}

// readSettings reads a hello's settings. What cannot be used is a *host.Refusal that
// names the setting, not its value.
func readSettings(hello *wire.Hello) (*sessionSettings, error) {
	env := hello.Env
	key, err := wire.Encode(env)
	if err != nil {
		return nil, badSetting("")
	}
	s := &sessionSettings{key: string(key) + strconv.FormatBool(hello.Replay), replay: hello.Replay, requests: true, results: true}
	if err := s.readMode(env); err != nil {
		return nil, err
	}
	if s.pricing, err = pricingOf(settingWord(env, "PRICE_ROW"), settingWord(env, "PRICES"), settingWord(env, "PRICES_AS_OF"), unitITE); err != nil {
		return nil, badSetting("PRICE_ROW")
	}
	return s, s.readForms(env)
}

func (s *sessionSettings) readMode(env map[string]string) error {
	switch mode := settingWord(env, "MODE"); mode {
	case "", "balanced", "aggressive":
	case "native":
		s.requests = false
	case "terminal", "off":
		s.requests, s.results = false, false
	case "suggest":
		s.observe, s.results = true, false
	default:
		return badSetting("MODE")
	}
	if settingOff(env, "ENABLED") {
		s.requests, s.results, s.observe = false, false, false
	}
	return nil
}

func (s *sessionSettings) readForms(env map[string]string) error {
	c := &s.compile
	c.Row = plan.Study()
	preset := reduce.Default
	if word := settingWord(env, "PRESET"); word != "" {
		var ok bool
		if preset, ok = reduce.ParsePreset(word); !ok {
			return badSetting("PRESET")
		}
	}
	c.Reduce.Preset = preset
	if c.Assume = settingWord(env, "TIKTOKEN_ENCODING"); c.Assume != "" {
		if _, err := tokens.Named(c.Assume); err != nil {
			return badSetting("TIKTOKEN_ENCODING")
		}
	}
	c.NoLayout, c.NoDelta = settingOff(env, "LAYOUT"), settingOff(env, "TEMPORAL_DELTA")
	c.NoHiding, c.NoEpochs = settingOff(env, "COMPRESSED"), settingOff(env, "RECEIPTS")
	c.Plan.Bank, c.Plan.StrictReads = settingOn(env, "EPOCH_BANK"), settingOn(env, "STRICT_READS")
	if list := settingWord(env, "EXCLUDE_TOOLS"); list != "" {
		c.Reduce.Excluded = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	}
	if word := settingWord(env, "CACHE_MODEL"); word != "" {
		var err error
		if c.Cache, err = plan.ParseCache(word); err != nil {
			return badSetting("CACHE_MODEL")
		}
	}
	if word := settingWord(env, "RECOVERY_PCT"); word != "" {
		pct, err := strconv.ParseFloat(word, 64)
		if err != nil || pct < 0 || pct > 100 {
			return badSetting("RECOVERY_PCT")
		}
		if c.Plan.RecoveryPct = pct; pct == 0 {
			c.Plan.RecoveryPct = -1 // plan takes 0 for "the default"
		}
	}
	return s.readNumbers(env)
}

func (s *sessionSettings) readNumbers(env map[string]string) error {
	c := &s.compile
	for name, at := range map[string]*int{
		"CONTEXT_LIMIT_TOKENS": &s.window, "SIZE_GATE": &c.Plan.SizeGate, "FLOOR_HIDING": &c.Plan.FloorHiding,
		"FLOOR_VISIBLE": &c.Plan.FloorVisible, "LEAST_GAIN": &c.Plan.LeastGain, "HEAD_LINES": &c.Reduce.Form.Head,
		"TAIL_LINES": &c.Reduce.Form.Tail, "CONTEXT_LINES": &c.Reduce.Form.Context, "MAX_TOKENS": &c.Reduce.Form.MaxTokens,
	} {
		word := settingWord(env, name)
		if word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return badSetting(name)
		}
		*at = n
	}
	return nil
}

func badSetting(name string) error {
	return &host.Refusal{Code: wire.ErrorSetting, Detail: host.SettingPrefix + name + " cannot be used"}
}
