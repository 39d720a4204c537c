package corenode

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Answer is the reply to one call, with its parts as Core wrote them. They lie in the
// body that was parsed.
type Answer struct {
	Result []byte // JSON; nil after an error
	Err    *Error // nil: the call succeeded
	ID     []byte // JSON; nil where there is none
}

// maxMembers bounds the members of a reply, which has four.
const maxMembers = 16

// ParseReply reads the reply to one call, of either version of JSON-RPC. The whole of it
// has to be JSON: what it returns can be put into another reply. The error is [ErrReply].
func ParseReply(body []byte) (Answer, error) {
	members, ok := splitObject(body, maxMembers)
	if !ok {
		return Answer{}, fmt.Errorf("%w: it is no JSON object", ErrReply)
	}
	var a Answer
	var failure []byte
	for _, m := range members {
		switch string(m.name) {
		case `"result"`:
			a.Result = m.value
		case `"error"`:
			failure = m.value
		case `"id"`:
			a.ID = m.value
		}
	}
	switch {
	case failure != nil && !isNull(failure):
		a.Result, a.Err = nil, new(Error)
		if err := json.Unmarshal(failure, a.Err); err != nil {
			return Answer{}, fmt.Errorf("%w: its error has another form", ErrReply)
		}
	case a.Result == nil:
		return Answer{}, fmt.Errorf("%w: it has neither result nor error", ErrReply)
	}
	return a, nil
}

func isNull(value []byte) bool { return bytes.Equal(value, []byte("null")) }
