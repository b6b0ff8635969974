package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/safefile"
)

func load(t *testing.T, src Sources) Settings {
	t.Helper()
	s, err := Load(src)
	require.NoError(t, err)
	return s
}

func env(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[Prefix+pairs[i]] = pairs[i+1]
	}
	return m
}

func config(t *testing.T, text string) *File {
	t.Helper()
	f, err := ParseFile("config.toml", []byte(text))
	require.NoError(t, err)
	return f
}

func TestDefaultsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	s := load(t, Sources{})
	require.Empty(t, s.Notices)
	require.True(t, s.Active() && s.ActsOnRequests() && s.ReadsExempt() && s.Layout && s.Delta && s.Compressed && s.Receipts && s.Ledger)
	require.False(t, s.Observe() || s.ActsOnResults() || s.Jev || s.IR)
	require.Equal(t, []any{400, 200, 10, 10, 2, 64, 10, 400, 5, 3, 8000, 20_000}, []any{s.FloorHiding, s.FloorVisible, s.Head, s.Tail,
		s.ContextLines, s.LeastGain, s.LeastGainPct, s.ReceiptGain, s.ReceiptAge, s.RecoveredTurns, s.PageChars, s.MaxPageChars})
	require.Equal(t, []any{800 * time.Millisecond, 400 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 30 * time.Minute},
		[]any{s.TurnTimeout, s.ResultTimeout, s.CommandTimeout, s.RecoverTime, s.IdleExit})
	require.Equal(t, []any{int64(8 << 30), int64(128 << 20), 64, 8_000_000}, []any{s.VaultMaxBytes, s.MaxTurnBytes, s.MaxTurns, s.MaxArtifactChars})
	for _, shown := range s.Show() {
		require.Equal(t, "default", shown.Origin, shown.Name)
	}
	split, err := s.Split()
	require.NoError(t, err)
	require.Empty(t, split.Arms)
}

func TestTheNearerSourceWins(t *testing.T) {
	t.Parallel()
	file := config(t, "floor_hiding = 500\nfloor_visible = 250\nmode = \"native\"\nexclude_tools = [\"a\", \"b\"]\nrecovery_pct = 7\n")
	s := load(t, Sources{
		File: file, Env: env("FLOOR_HIDING", "600", "FLOOR_VISIBLE", "300", "TURN_TIMEOUT_MS", "900"),
		Flags: map[string]string{"FLOOR_HIDING": "700"},
	})
	require.Equal(t, []any{700, 300, Native, []string{"a", "b"}, 7.0, 900 * time.Millisecond},
		[]any{s.FloorHiding, s.FloorVisible, s.Mode, s.ExcludeTools, s.RecoveryPct, s.TurnTimeout})
	for name, want := range map[string]string{
		"FLOOR_HIDING": "flag", "FLOOR_VISIBLE": "environment", "MODE": "config.toml", "HEAD_LINES": "default",
	} {
		require.Equal(t, want, s.Origin(name))
	}
	for _, shown := range s.Show() {
		if shown.Name == "TURN_TIMEOUT_MS" {
			require.Equal(t, Shown{Name: "TURN_TIMEOUT_MS", Key: "turn_timeout_ms", Value: int64(900), Unit: "ms", Origin: "environment"}, shown)
		}
	}
	for name, value := range map[string]string{"NO_SUCH": "1", "FLOOR_HIDING": "many", "MODE": "loud", "MAX_TURNS": "0", "HEAD_LINES": "1.5"} {
		_, err := Load(Sources{Flags: map[string]string{name: value}})
		require.ErrorIs(t, err, ErrFlag, name)
		require.ErrorContains(t, err, name)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	type acts struct{ active, observe, requests, results, commands, exempt bool }
	for mode, want := range map[Mode]acts{
		Balanced:   {active: true, requests: true, commands: true, exempt: true},
		Aggressive: {active: true, requests: true, commands: true},
		Native:     {active: true, results: true, exempt: true},
		Terminal:   {active: true, commands: true, exempt: true},
		Suggest:    {active: true, observe: true, requests: true, commands: true, exempt: true},
		Off:        {exempt: true},
	} {
		s := load(t, Sources{Env: env("MODE", strings.ToUpper(string(mode)))})
		require.Equal(t, want, acts{s.Active(), s.Observe(), s.ActsOnRequests(), s.ActsOnResults(), s.ActsOnCommands(), s.ReadsExempt()}, mode)
		require.Empty(t, s.Notices)
	}
	s := load(t, Sources{Env: env("MODE", "aggressive")})
	require.Equal(t, 3, s.ReceiptAge)
	require.Equal(t, "mode aggressive", s.Origin("RECEIPT_AGE"))
	require.Equal(t, 9, load(t, Sources{Env: env("MODE", "aggressive", "RECEIPT_AGE", "9")}).ReceiptAge, "what the user says stays")
	s = load(t, Sources{Env: env("BIRTH", "result")})
	require.True(t, s.ActsOnResults() && !s.ActsOnRequests())
	require.False(t, load(t, Sources{Env: env("ENABLED", "no")}).Active())
}

// What cannot be read never stops anything, and a doubt about acting at all means not
// to act.
func TestAnEnvironmentNeverStopsAnything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    map[string]string
		check  func(Settings) bool
		notice string
	}{
		"a mode nobody knows": {env("MODE", "quiet"), func(s Settings) bool { return !s.Active() }, "TOKEN_TERMINATOR_MODE cannot be read (want one of balanced, aggressive, native, terminal, suggest, off): off is taken"},
		"an unclear switch":   {env("ENABLED", "maybe"), func(s Settings) bool { return !s.Active() }, "TOKEN_TERMINATOR_ENABLED cannot be read (want true or false): false is taken"},
		"a number too large":  {env("HEAD_LINES", "999999"), func(s Settings) bool { return s.Head == 10_000 }, "TOKEN_TERMINATOR_HEAD_LINES is out of range: want a whole number from 1 to 10000; the nearest that may be is taken"},
		"no number":           {env("HEAD_LINES", "ten"), func(s Settings) bool { return s.Head == 10 }, "TOKEN_TERMINATOR_HEAD_LINES cannot be read (want a whole number from 1 to 10000): it is not taken"},
		"not a number":        {env("RECOVERY_PCT", "NaN"), func(s Settings) bool { return s.RecoveryPct == 5 }, "TOKEN_TERMINATOR_RECOVERY_PCT cannot be read (want a number from 0 to 100): it is not taken"},
		"empty":               {env("MODE", "", "HEAD_LINES", " ", "EXCLUDE_TOOLS", ""), func(s Settings) bool { return s.Active() && s.Head == 10 }, ""},
		"a wrong name":        {env("HEAD_LINE", "3"), func(s Settings) bool { return s.Head == 10 }, "TOKEN_TERMINATOR_HEAD_LINE is no setting; the nearest is HEAD_LINES"},
		"a strange name":      {env("ZZZZZZZZZZ", "3"), func(s Settings) bool { return true }, "TOKEN_TERMINATOR_ZZZZZZZZZZ is no setting"},
		"water marks crossed": {env("VAULT_HIGH_WATER_PCT", "60", "VAULT_LOW_WATER_PCT", "70"), func(s Settings) bool { return s.LowWater == 50 }, "VAULT_LOW_WATER_PCT is not under VAULT_HIGH_WATER_PCT: 50 is taken"},
		"a bad split":         {env("EXPERIMENT_ARMS", "a=50,b=40"), func(s Settings) bool { return s.ExperimentArms == nil }, `experiment "default": the arms' percentages add up to 90, want 100: there is no experiment`},
		"no split":            {env("EXPERIMENT_ARMS", "a"), func(s Settings) bool { return s.ExperimentArms == nil }, "EXPERIMENT_ARMS: want NAME=PERCENT: there is no experiment"},
		"not yet":             {env("JEV", "true"), func(s Settings) bool { return s.Jev }, "TOKEN_TERMINATOR_JEV has no effect in this release"},
		"ignored":             {env("PREVIEW_MARKER", "true"), func(s Settings) bool { return true }, "TOKEN_TERMINATOR_PREVIEW_MARKER has no effect: markers always show"},
		"of the commands":     {env("HOME", "/x", "CORPUS", "/y"), func(s Settings) bool { return true }, ""},
		"others' variables":   {map[string]string{"PATH": "/bin", "OPENAI_API_KEY": "sk-1"}, func(s Settings) bool { return true }, ""},
		"an older prefix":     {map[string]string{"RTK_HERMES_PLUS_MODE": "off"}, func(s Settings) bool { return s.Active() }, "RTK_HERMES_PLUS_MODE is not read any more: use TOKEN_TERMINATOR_MODE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, Sources{Env: c.env})
			require.True(t, c.check(s))
			if c.notice == "" {
				require.Empty(t, s.Notices)
				return
			}
			require.Equal(t, []string{c.notice}, s.Notices)
		})
	}
}

func TestOldVariablesAreTakenWithOneNotice(t *testing.T) {
	t.Parallel()
	s := load(t, Sources{Env: env("NATIVE_MIN_CHARS", "12000", "NATIVE_MAX_CHARS", "8001", "TEMPORAL_MIN_CHARS", "2000",
		"MIN_ARTIFACT_CHARS", "8000", "CONTEXT_MIN_VAULT_CHARS", "4000", "INLINE_LEASES", "1", "CONTEXT_COLLAPSE_AFTER_TURNS", "6",
		"CONTEXT_INLINE_RECENT_TURNS", "5", "CONTEXT_COMPACTION", "false")})
	require.Equal(t, []any{3000, 2001, 500, 2000, 6, false}, []any{s.FloorHiding, s.MaxView, s.FloorVisible, s.ReceiptGain, s.ReceiptAge, s.Receipts})
	require.Len(t, s.Notices, 9)
	require.Equal(t, "TOKEN_TERMINATOR_NATIVE_MIN_CHARS is taken as TOKEN_TERMINATOR_FLOOR_HIDING: 3000 tokens", s.Notices[0])
	require.Equal(t, "TOKEN_TERMINATOR_NATIVE_MIN_CHARS", s.Origin("FLOOR_HIDING"))
	s = load(t, Sources{Env: env("NATIVE_MIN_CHARS", "12000", "FLOOR_HIDING", "350")})
	require.Equal(t, 350, s.FloorHiding, "the setting's own name wins")
	s = load(t, Sources{Env: env("NATIVE_MIN_CHARS", "-5", "INLINE_LEASES", "lots", "CONTEXT_COMPACTION", "perhaps")})
	require.Equal(t, []any{400, 5, false}, []any{s.FloorHiding, s.ReceiptAge, s.Receipts})
	require.Len(t, s.Notices, 4)
}

// Every name of the reference that the contract keeps is known.
func TestKeptNamesAreKnown(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`ENABLED MODE TIMEOUT_MS BACKENDS RTK_PATH EXCLUDE PYTEST_GUARD CACHE_TTL CACHE_SIZE DB_PATH
		MAX_ARTIFACT_CHARS VAULT_MAX_BYTES VAULT_HIGH_WATER_PCT VAULT_LOW_WATER_PCT MAX_PAGE_CHARS MAX_SEARCH_RESULTS TOKEN_BUDGET
		TOKENIZER_JSON TIKTOKEN_ENCODING CONTEXT_LIMIT_TOKENS OUTPUT_RESERVE_TOKENS TOKEN_SAFETY_MARGIN LEDGER LEDGER_PATH STATE_DB
		EXPERIMENT EQ_INPUT_USD_PER_M EQ_OUTPUT_USD_PER_M EQ_CACHE_READ_USD_PER_M EQ_CACHE_WRITE_USD_PER_M EQ_RATE_CARD
		CHAT_TARGET_POLICY JEV JEV_PROVIDER JEV_MODEL JEV_TIMEOUT_MS JEV_RELEVANCE_THRESHOLD JEV_MIN_MESSAGE_CHARS JEV_MAX_CANDIDATES
		JEV_MAX_CANDIDATE_CHARS JEV_MAX_STATE_CHARS CONTEXT_IR CONTEXT_IR_MIN_CHARS CONTEXT_IR_MAX_CHARS CONTEXT_IR_MAX_MESSAGES
		CONTEXT_IR_MAX_EVALUATIONS ENGINE_MAX_BATCHES ENGINE_PROTECT_LAST ENGINE_REGION_CHARS ENGINE_RECALL_SOURCES
		ENGINE_SEARCH_SOURCES LEARNED_POLICY_MODE LEARNED_POLICY_PATH LEARNED_POLICY_SHA256 TEMPORAL_DELTA TEMPORAL_SCOPE
		WORKING_GRAPH_CHARS`) {
		_, ok := find(name)
		require.True(t, ok, name)
	}
	seen := map[string]bool{}
	for _, sp := range table {
		require.False(t, seen[sp.name], sp.name)
		seen[sp.name] = true
		require.False(t, SecretName(sp.name), "%s: no setting may be named like a key", sp.name)
		require.False(t, sp.min > sp.max, sp.name)
	}
}

func TestASessionHasItsOwnEnvironmentAndTheDaemonsStore(t *testing.T) {
	t.Parallel()
	daemon := load(t, Sources{
		File: config(t, "floor_visible = 222\n"), Env: env("FLOOR_HIDING", "700", "VAULT_MAX_BYTES", "1000000"),
		Flags: map[string]string{"HEAD_LINES": "4"},
	})
	s := daemon.ForSession(env("TAIL_LINES", "7", "HEAD_LINES", "99", "VAULT_MAX_BYTES", "5", "SYNCHRONOUS", "full", "JEV_API_KEY", "sk-canary"))
	require.Equal(t, []any{400, 222, 7, 4, int64(1_000_000)}, []any{s.FloorHiding, s.FloorVisible, s.Tail, s.Head, s.VaultMaxBytes},
		"the daemon's own environment is no session's; its flags and its store are everybody's")
	require.Equal(t, []string{"TOKEN_TERMINATOR_VAULT_MAX_BYTES is one for the whole daemon; this session's value is not taken"}, s.Notices)
	require.Equal(t, "environment", s.Origin("VAULT_MAX_BYTES"))
	require.Equal(t, 700, daemon.FloorHiding, "nothing of the daemon moved")
	again := s.ForSession(nil)
	require.Equal(t, []any{10, 4}, []any{again.Tail, again.Head}, "sessions see nothing of each other")
}

func TestConfigFileIsStrict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no TOML":            {"mode = balanced\n", "config.toml line 1: this is no TOML"},
		"an unknown key":     {"mode = \"native\"\nhead_line = 3\n", "config.toml line 2: key head_line: there is no such setting; the nearest is head_lines"},
		"a table":            {"[vault]\nmax_bytes = 3\n", "config.toml line 1: key vault: there is no such setting"},
		"a wrong type":       {"\nhead_lines = \"three\"\n", "config.toml line 2: key head_lines: want a whole number from 1 to 10000"},
		"a wrong boolean":    {"enabled = 1\n", "config.toml line 1: key enabled: want true or false"},
		"a fraction":         {"head_lines = 1.5\n", "config.toml line 1: key head_lines: want a whole number from 1 to 10000"},
		"out of range":       {"# words\nhead_lines = 0\n", "config.toml line 2: key head_lines: out of range: want a whole number from 1 to 10000"},
		"a choice":           {"mode = \"quiet\"\n", "config.toml line 1: key mode: want one of balanced, aggressive, native, terminal, suggest, off"},
		"a relative path":    {"db_path = \"vault\"\n", "config.toml line 1: key db_path: want an absolute path"},
		"twice":              {"head_lines = 3\nhead_lines = 4\n", "config.toml line 2: key head_lines: it stands twice, first in line 1"},
		"not a list":         {"exclude_tools = \"a\"\n", "config.toml line 1: key exclude_tools: want a list of texts"},
		"a key by its name":  {"mode = \"off\"\nopenrouter_api_key = \"x\"\n", "config.toml line 2: key openrouter_api_key: a key of a service may not stand in this file"},
		"a key by its looks": {"jev_model = \"sk-or-v1-0123456789abcdef0123\"\n", "config.toml line 1: key jev_model: a key of a service may not stand in this file"},
		"a key in a list":    {"exclude = [\"fine\", \"Bearer abcdefghijklmnop1234\"]\n", "config.toml line 1: key exclude: a key of a service may not stand in this file"},
		"a key in a table":   {"[openrouter]\nsecret = \"y\"\n", "config.toml line 2: key openrouter.secret: a key of a service may not stand in this file"},
		"a key as a key":     {"sk-or-v1-0123456789abcdef0123 = true\n", "config.toml: key (not shown): there is no such setting"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseFile("config.toml", []byte(c.text))
			require.Error(t, err)
			if c.want != "config.toml: key (not shown): there is no such setting" {
				require.Equal(t, c.want, err.Error())
			}
			var told *FileError
			require.ErrorAs(t, err, &told)
			require.NotEmpty(t, told.Hint())
			for _, value := range []string{"sk-or", "abcdefghijklmnop1234", "balanced\n", "three", "quiet"} {
				require.NotContains(t, err.Error(), value, "no value is repeated")
			}
		})
	}
	f := config(t, "# all of it\nenabled = true\nrecovery_pct = 2.5\neq_input_usd_per_m = 3\nexclude_tools = []\ntokenizer_json = \"/models/tokenizer.json\"\nlearned_policy_sha256 = \""+strings.Repeat("aB3", 21)+"f\"\n")
	s := load(t, Sources{File: f})
	require.Equal(t, []any{2.5, 3.0, []string{}}, []any{s.RecoveryPct, s.RateInput, s.ExcludeTools})
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	f, err := ReadFile(path)
	require.NoError(t, err)
	require.Nil(t, f)
	require.NoError(t, os.WriteFile(path, []byte("head_lines = 3\n"), 0o600))
	f, err = ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 3, load(t, Sources{File: f}).Head)
	link := filepath.Join(dir, "link.toml")
	require.NoError(t, os.Symlink(path, link))
	_, err = ReadFile(link)
	require.ErrorIs(t, err, safefile.ErrSymlink)
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("#", maxFile+1)), 0o600))
	_, err = ReadFile(path)
	require.ErrorIs(t, err, safefile.ErrTooLarge)
	var told interface{ Hint() string }
	require.True(t, errors.As(err, &told))
}

func TestThePageListsEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	require.NoError(t, err)
	require.Contains(t, string(page), Markdown(), "docs/settings.md holds the tables that Markdown gives")
}
