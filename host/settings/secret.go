package settings

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
)

const hiddenText = "[secret]"

// Secret is a key. It cannot be printed, logged or marshalled, also not as a part of
// another value; Reveal gives it to the one call that needs it. The zero Secret is none.
type Secret struct{ reveal func() string } // a function prints as an address at worst

// NewSecret wraps a key; "" is none.
func NewSecret(key string) Secret {
	if key == "" {
		return Secret{}
	}
	return Secret{func() string { return key }}
}

// Set says whether there is one.
func (s Secret) Set() bool { return s.reveal != nil }

// Reveal gives the key, "" when there is none.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String implements fmt.Stringer.
func (Secret) String() string { return hiddenText }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return hiddenText }

// Format implements fmt.Formatter, for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hiddenText) }

// MarshalJSON implements json.Marshaler.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hiddenText + `"`), nil }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(hiddenText), nil }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hiddenText) }

// Secrets are the keys of services.
type Secrets struct {
	OpenRouter Secret
	TypeSafe   Secret
}

// ReadSecrets takes the keys from an environment, the only place they may come from.
// TOKEN_TERMINATOR_JEV_API_KEY is an old name of TYPESAFE_API_KEY.
func ReadSecrets(getenv func(string) string) Secrets {
	typesafe := getenv("TYPESAFE_API_KEY")
	if typesafe == "" {
		typesafe = getenv(Prefix + "JEV_API_KEY")
	}
	return Secrets{OpenRouter: NewSecret(getenv("OPENROUTER_API_KEY")), TypeSafe: NewSecret(typesafe)}
}

// SecretName says whether a variable may hold a key, so that it must not travel in a
// hello, a log or a file.
func SecretName(name string) bool { return secretName.MatchString(name) }

var (
	secretName  = regexp.MustCompile(`(?i)(api[_-]?key|secret|passw(or)?d|credential|bearer|private[_-]?key|(^|_)(access|auth|refresh)[_-]?token$)`)
	secretValue = regexp.MustCompile(`^(?i:bearer\s+\S{16,}|((sk|pk|rk|xai|gsk|ghp|gho|ghs|hf|glpat|xox[abprs])[-_]|AIza|AKIA)[A-Za-z0-9][A-Za-z0-9_\-.]{15,})$`)
	longMixed   = regexp.MustCompile(`^[A-Za-z0-9_\-+/=.]{32,}$`)
	hexHash     = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
)

// looksSecret says whether a value looks like a key: a known beginning, or a long run
// of mixed letters and digits that is no hash and no path.
func looksSecret(value string) bool {
	value = strings.TrimSpace(value)
	if secretValue.MatchString(value) {
		return true
	}
	if !longMixed.MatchString(value) || hexHash.MatchString(value) || strings.HasPrefix(value, "/") {
		return false
	}
	digits := strings.ContainsAny(value, "0123456789")
	lower := strings.ToUpper(value) != value
	upper := strings.ToLower(value) != value
	return digits && lower && upper
}

// findSecret finds a key in a decoded file, by its name or by how it looks.
func findSecret(table map[string]any) (key string, found bool) {
	for _, name := range sortedKeys(table) {
		if _, known := find(strings.ToUpper(name)); !known && SecretName(name) {
			return name, true
		}
		if below, ok := table[name].(map[string]any); ok {
			if key, found := findSecret(below); found {
				return name + "." + key, true
			}
			continue
		}
		if secretIn(table[name]) {
			return name, true
		}
	}
	return "", false
}

func secretIn(v any) bool {
	switch v := v.(type) {
	case string:
		return looksSecret(v)
	case []any:
		return slices.ContainsFunc(v, secretIn)
	case map[string]any:
		_, found := findSecret(v)
		return found
	}
	return false
}

func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
