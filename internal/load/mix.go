package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// The calls of scanblocks. They stand in a [Mix] by these names.
const (
	Start  = "start"
	Status = "status"
	Abort  = "abort"
)

// scanBlocks is their method.
const scanBlocks = "scanblocks"

// maxWeight bounds a single weight, so that sums stay small.
const maxWeight = 1_000_000

// A Call is one of those that a [Mix] chooses from.
type Call struct {
	Name   string // Start, Status, Abort, Search, or a method's name
	Params string // JSON array; empty for scanblocks, whose parameters are known
	Weight int    // 1 to 1,000,000
}

// A Mix chooses calls at random, each as often as its weight tells.
type Mix struct {
	Calls []Call
	total int
}

// ErrMix reports that a text is no [Mix].
var ErrMix = errors.New("invalid mix")

// ParseMix reads "name:weight,name[params]:weight,...". The weight is 1 where
// none is given, and the parameters, which are a JSON array, are none.
//
// Errors: [ErrMix].
func ParseMix(text string) (Mix, error) {
	var m Mix
	for rest := text; ; {
		call, after, err := parseCall(rest)
		if err != nil {
			return Mix{}, fmt.Errorf("%w %.100q: %w", ErrMix, text, err)
		}
		m.Calls = append(m.Calls, call)
		m.total += call.Weight
		if after == "" {
			return m, nil
		}
		rest = after[1:]
	}
}

// parseCall reads the first call of a mix; after is empty or begins with the
// comma before the next.
func parseCall(text string) (call Call, after string, err error) {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	if end < 0 {
		end = len(text)
	}
	call, after = Call{Name: text[:end], Params: "[]", Weight: 1}, text[end:]
	if end == 0 {
		return call, "", errors.New("a name is missing")
	}
	if strings.HasPrefix(after, "[") {
		if call.Params, after, err = parseParams(after); err != nil {
			return call, "", err
		}
	}
	if number, ok := strings.CutPrefix(after, ":"); ok {
		number, _, _ = strings.Cut(number, ",")
		if call.Weight, err = strconv.Atoi(number); err != nil || call.Weight < 1 || call.Weight > maxWeight {
			return call, "", fmt.Errorf("weight %q is not from 1 to %d", number, maxWeight)
		}
		after = after[1+len(number):]
	}
	if after != "" && after[0] != ',' {
		return call, "", fmt.Errorf("%q is in the way", after)
	}
	return call, after, nil
}

// parseParams cuts a JSON array off a text.
func parseParams(text string) (params, after string, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the parameters have no end")
		}
		return "", "", err
	}
	return string(raw), text[decoder.InputOffset():], nil
}

// Has reports whether a call may be chosen.
func (m Mix) Has(name string) bool {
	for _, call := range m.Calls {
		if call.Name == name {
			return true
		}
	}
	return false
}

// String returns the text of the mix.
func (m Mix) String() string {
	var b strings.Builder
	for i, call := range m.Calls {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(call.Name)
		if call.Params != "[]" {
			b.WriteString(call.Params)
		}
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(call.Weight))
	}
	return b.String()
}

// choose returns the index of a call.
func (m Mix) choose(random *rand.Rand) int {
	n := random.IntN(m.total)
	for i, call := range m.Calls {
		if n -= call.Weight; n < 0 {
			return i
		}
	}
	panic("load: weights do not add up")
}
