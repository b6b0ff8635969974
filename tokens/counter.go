package tokens

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// ErrUnknownEncoding says that no encoding of that name is known.
var ErrUnknownEncoding = errors.New("unknown token encoding")

// Counter counts the tokens of a text. It is exact, safe for concurrent use and
// takes linear time. The text is UTF-8 of less than 2 GiB; it is not kept.
type Counter interface {
	Name() string
	Count(text []byte) int
}

type libraryCounter struct {
	name  string
	codec func() tokenizer.Codec
}

func (c *libraryCounter) Name() string { return c.name }

func (c *libraryCounter) Count(text []byte) int {
	n, err := c.codec().Count(string(text))
	if err != nil {
		panic("tokens: library count: " + err.Error())
	}
	return n
}

// Named returns the counter of an encoding.
func Named(encoding string) (Counter, error) {
	switch encoding {
	case "o200k_base", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base":
	default:
		return nil, fmt.Errorf("%w: %q", ErrUnknownEncoding, encoding)
	}
	return &libraryCounter{name: encoding, codec: sync.OnceValue(func() tokenizer.Codec {
		c, err := tokenizer.Get(tokenizer.Encoding(encoding))
		if err != nil {
			panic("tokens: get " + encoding + ": " + err.Error())
		}
		return c
	})}, nil
}
