package main

import (
	"strconv"

	"token-terminator/host/settings"
	"token-terminator/host/settings/apply"
	"token-terminator/host/wire"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
)

// sessionSettings are the settings of the sessions of one connection: the daemon's, with
// those of its hello in front. They never change.
type sessionSettings struct {
	settings.Settings
	key     string // equal settings have equal keys
	compile compile.Settings
	pricing pricing
	window  int  // tokens of input the model takes; 0 unknown
	replay  bool // recorded sessions: the clock says nothing about the cache
	notices []string
}

// sessionOf reads a hello's settings. An environment stops nothing: what cannot be used
// is said in a notice.
func sessionOf(daemon settings.Settings, hello *wire.Hello) (*sessionSettings, error) {
	key, err := wire.Encode(hello.Env)
	if err != nil {
		return nil, err
	}
	set := daemon.ForSession(hello.Env)
	s := &sessionSettings{Settings: set, key: string(key) + strconv.FormatBool(hello.Replay), replay: hello.Replay, notices: set.Notices}
	if s.pricing, err = pricingOf(set.PriceRow, set.Prices, set.PricesAsOf, unitITE); err != nil {
		s.notices = append(s.notices, "the price row or table cannot be used: each model's own row is taken")
		if s.pricing, err = pricingOf("", "", "", unitITE); err != nil {
			return nil, err
		}
	}
	s.compile = apply.Compile(set, plan.Study())
	if set.ContextLimit > 0 {
		s.window = max(set.ContextLimit-set.OutputReserve-set.SafetyMargin, 0)
	}
	return s, nil
}
