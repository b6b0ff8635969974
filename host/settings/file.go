package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"token-terminator/internal/safefile"
)

// FileName is the user's file in the home's folder.
const FileName = "config.toml"

const maxFile = 1 << 20

// File is a config.toml that was read and found right.
type File struct {
	values map[string]any // by setting name
}

// FileError says what is wrong where in config.toml. It never holds a value.
type FileError struct {
	Path   string
	Line   int    // from 1; 0 unknown
	Key    string // "" none
	Why    string
	Advice string
}

// Error reads "config.toml line 3: key mode: want one of …".
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	if e.Key != "" {
		b.WriteString(": key " + e.Key)
	}
	return b.String() + ": " + e.Why
}

// Hint says what the user can do.
func (e *FileError) Hint() string { return e.Advice }

// ReadFile reads the config.toml at path; nil when there is none.
func ReadFile(path string) (*File, error) {
	data, err := safefile.ReadPrivate(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseFile(path, data)
}

// ParseFile reads the bytes of a config.toml; path is only named in errors.
func ParseFile(path string, data []byte) (*File, error) {
	e := func(line int, key, why, advice string) (*File, error) {
		return nil, &FileError{Path: path, Line: line, Key: bounded(key), Why: why, Advice: advice}
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		if key, first, again := repeated(data, lineOf(err)); again > 0 {
			return e(again, key, fmt.Sprintf("it stands twice, first in line %d", first), "keep one of the two lines")
		}
		return e(lineOf(err), "", "this is no TOML", "write one setting a line, like mode = \"balanced\"")
	}
	if key, found := findSecret(raw); found {
		return e(lineWith(data, key), key, "a key of a service may not stand in this file", "set it in the environment instead, and make a new one: this one may have been read")
	}
	into := reflect.New(shape)
	dec := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	if err := dec.Decode(into.Interface()); err != nil {
		var missing *toml.StrictMissingError
		if errors.As(err, &missing) && len(missing.Errors) > 0 {
			line, _ := missing.Errors[0].Position()
			key := strings.Join(missing.Errors[0].Key(), ".")
			return e(line, key, "there is no such setting"+strings.ToLower(orNearest(key)), "tt config show lists them all")
		}
		line, key := lineOf(err), ""
		var told *toml.DecodeError
		if errors.As(err, &told) {
			key = strings.Join(told.Key(), ".")
		}
		if key == "" {
			key = keyAt(data, line)
		}
		why := "it has the wrong type"
		if sp, ok := find(strings.ToUpper(key)); ok {
			why = "want " + sp.wants()
		}
		return e(line, key, why, "docs/settings.md says what each setting takes")
	}
	return checkFile(path, data, into.Elem())
}

// checkFile takes the values that are there and checks their ranges.
func checkFile(path string, data []byte, into reflect.Value) (*File, error) {
	f := &File{values: map[string]any{}}
	trial := Settings{origins: map[string]string{}}
	for i, sp := range table {
		field := into.Field(i)
		if field.IsNil() {
			continue
		}
		v := field.Interface()
		if field.Kind() == reflect.Pointer {
			v = field.Elem().Interface()
		}
		if err := sp.fromTOML(&trial, v); err != nil {
			return nil, &FileError{Path: path, Line: lineWith(data, sp.key()), Key: sp.key(), Why: err.Error(), Advice: "docs/settings.md says what each setting takes"}
		}
		f.values[sp.name] = v
	}
	return f, nil
}

func (f *File) apply(s *Settings) {
	if f == nil {
		return
	}
	for _, sp := range table {
		if v, ok := f.values[sp.name]; ok && sp.fromTOML(s, v) == nil {
			s.origins[sp.name] = originFile
		}
	}
}

// shape is a struct with one optional field for each setting, in the table's order, so
// that the decoder itself knows names and types.
var shape = func() reflect.Type {
	fields := make([]reflect.StructField, len(table))
	for i, sp := range table {
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: decoded(sp), Tag: reflect.StructTag(`toml:"` + sp.key() + `"`),
		}
	}
	return reflect.StructOf(fields)
}()

func decoded(sp spec) reflect.Type {
	switch sp.at(&Settings{}).(type) {
	case *bool:
		return reflect.TypeFor[*bool]()
	case *string:
		return reflect.TypeFor[*string]()
	case *[]string:
		return reflect.TypeFor[[]string]()
	case *float64:
		return reflect.TypeFor[*float64]()
	}
	return reflect.TypeFor[*int64]()
}

func lineOf(err error) int {
	var told *toml.DecodeError
	if errors.As(err, &told) {
		line, _ := told.Position()
		return line
	}
	return 0
}

var keyLine = regexp.MustCompile(`^\s*["']?([A-Za-z0-9_.-]+)["']?\s*=`)

// lineWith is the first line that sets key, 0 when it is written in another way.
func lineWith(data []byte, key string) int {
	last := key[strings.LastIndexByte(key, '.')+1:]
	for i, line := range strings.Split(string(data), "\n") {
		if m := keyLine.FindStringSubmatch(line); m != nil && (strings.EqualFold(m[1], key) || strings.EqualFold(m[1], last)) {
			return i + 1
		}
	}
	return 0
}

// repeated finds a key that is set on two lines, the second of them where reading
// failed; again is 0 when there is none, or the failure has another place.
func repeated(data []byte, failed int) (key string, first, again int) {
	seen := map[string]int{}
	table := ""
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "[") {
			table = strings.TrimSpace(line)
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if at := seen[table+m[1]]; at > 0 && (failed == 0 || failed == i+1) {
			return m[1], at, i + 1
		}
		seen[table+m[1]] = i + 1
	}
	return "", 0, 0
}

// keyAt is the key a line sets, "" when it sets none.
func keyAt(data []byte, line int) string {
	lines := strings.Split(string(data), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	if m := keyLine.FindStringSubmatch(lines[line-1]); m != nil {
		return m[1]
	}
	return ""
}

// bounded keeps the spelling of a key that is one; others are not repeated.
func bounded(key string) string {
	if len(key) > 80 || strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}) || looksSecret(key) {
		return "(not shown)"
	}
	return key
}
