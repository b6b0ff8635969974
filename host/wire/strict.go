package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// What is wrong with a frame, as an answer's "error" says it.
const (
	Unsupported = "unsupported" // a kind, field or protocol this daemon does not know
	BadFrame    = "bad_frame"   // a body that does not read
)

// BodyError says what is wrong with a body. ID is the request's, when it stood before
// the fault.
type BodyError struct {
	Code   string
	Reason turn.Reason // for a turn that passes because of it
	Field  string      // where, "" the body itself
	ID     uint64
	HasID  bool
}

func (e *BodyError) Error() string {
	if e.Field == "" {
		return "decode frame: " + e.Code
	}
	return "decode frame: field " + e.Field + ": " + e.Code
}

// decode reads body into the struct that into points to. Only keys that the struct
// names are allowed, each once and spelled exactly so; a json.RawMessage is a part of
// body itself, not a copy of it.
func decode(body []byte, into any) error {
	d := &decoder{s: strictjson.New(body, strictjson.MaxDepth)}
	err := d.object(reflect.ValueOf(into).Elem())
	if err == nil {
		err = d.s.End()
	}
	if err == nil && d.s.Duplicate >= 0 {
		err = &BodyError{Code: BadFrame, Reason: turn.DuplicateKey}
	}
	if err == nil && !d.hasID {
		err = &BodyError{Code: BadFrame, Reason: turn.NotJSON, Field: "id"}
	}
	if err == nil {
		return nil
	}
	var told *BodyError
	if !errors.As(err, &told) {
		told = &BodyError{Code: BadFrame, Reason: reasonOf(err), Field: d.field}
	}
	told.ID, told.HasID = d.id, d.hasID
	return told
}

func reasonOf(err error) turn.Reason {
	var fault *strictjson.Error
	if errors.As(err, &fault) {
		switch fault.Fault {
		case strictjson.UTF8:
			return turn.NotUTF8
		case strictjson.Deep:
			return turn.TooDeep
		}
	}
	return turn.NotJSON
}

type decoder struct {
	s     *strictjson.Scanner
	field string // of the body, the last one begun
	depth int
	id    uint64
	hasID bool
}

// object reads an object into the struct v.
func (d *decoder) object(v reflect.Value) error {
	fields := fieldsOf(v.Type())
	d.depth++
	defer func() { d.depth-- }()
	return d.s.Object(func(key strictjson.Str) error {
		name := string(d.s.Text(key))
		if d.depth == 1 {
			d.field = printable(name)
		}
		path, known := fields[name]
		if !known {
			return &BodyError{Code: Unsupported, Reason: turn.UnsupportedRequest, Field: printable(name)}
		}
		if err := d.value(v.FieldByIndex(path)); err != nil {
			return err
		}
		if d.depth == 1 && name == "id" {
			d.id, d.hasID = v.FieldByIndex(path).Uint(), true
		}
		return nil
	})
}

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

func (d *decoder) value(v reflect.Value) error {
	if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct && d.s.Peek() == '{' {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct && !v.Addr().Type().Implements(unmarshaler) {
		return d.object(v)
	}
	start := d.s.Pos
	if err := d.s.Skip(); err != nil {
		return err
	}
	raw := d.s.Data[start:d.s.Pos]
	if v.Type() == rawType {
		d.s.Lone = -1 // whoever reads the value looks for it there
		v.SetBytes(raw)
		return nil
	}
	if d.s.Lone >= 0 {
		return &BodyError{Code: BadFrame, Reason: turn.LoneSurrogate, Field: d.field}
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		return &BodyError{Code: BadFrame, Reason: turn.NotJSON, Field: d.field}
	}
	return nil
}

// maxName bounds a field's name in an error.
const maxName = 40

// printable is a field's name that may stand in an error: letters, digits and "_".
func printable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '?'
	}, name)
	return name[:min(len(name), maxName)]
}

var fieldCache sync.Map // reflect.Type -> map[string][]int

// fieldsOf maps the JSON names of a struct's fields to their places.
func fieldsOf(t reflect.Type) map[string][]int {
	if known, ok := fieldCache.Load(t); ok {
		return known.(map[string][]int)
	}
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "" && name != "-" {
			fields[name] = f.Index
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

// PeekID finds the id in the first bytes of a body that begins with it.
func PeekID(head []byte) (id uint64, ok bool) {
	s := strictjson.New(head, 1)
	stop := errors.New("stop")
	_ = s.Object(func(key strictjson.Str) error {
		start := s.Pos
		if string(s.Text(key)) == "id" && s.Skip() == nil && s.Pos < len(head) {
			ok = json.Unmarshal(head[start:s.Pos], &id) == nil
		}
		return stop
	})
	return id, ok
}
