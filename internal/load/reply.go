package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// busyText is how the error begins that refuses a second scan. Its code has
// other meanings too.
const busyText = "Scan already in progress"

const invalidParameter = -8

// A reply is what came back for a call.
type reply struct {
	status int
	result json.RawMessage // nil unless the call succeeded
	failed *failure
	odd    string // what is wrong with the reply itself
}

// failure is the error of a reply.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// parseReply reads the body of a reply to the request with the given id.
func parseReply(status int, body []byte, id string) reply {
	r := reply{status: status}
	if status == http.StatusServiceUnavailable {
		return r // too much to do: there is no envelope
	}
	var envelope struct {
		Result json.RawMessage `json:"result"`
		Error  *failure        `json:"error"`
		ID     json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		if status == http.StatusOK {
			r.odd = fmt.Sprintf("HTTP %d with %.80q: %v", status, body, err)
		}
		return r
	}
	switch {
	case string(envelope.ID) != `"`+id+`"`:
		r.odd = fmt.Sprintf("the reply to request %q has the id %.40s", id, envelope.ID)
	case (envelope.Error == nil) == (envelope.Result == nil):
		r.odd = fmt.Sprintf("a reply needs a result or an error: %.80q", body)
	default:
		r.result, r.failed = envelope.Result, envelope.Error
	}
	return r
}

// busy reports whether another scan is the reason of a failure.
func (r *reply) busy() bool {
	return r.failed != nil && r.failed.Code == invalidParameter && strings.HasPrefix(r.failed.Message, busyText)
}

// isNull reports whether the call succeeded with null.
func (r *reply) isNull() bool { return bytes.Equal(r.result, []byte("null")) }

// failureName is the outcome of a call that has no result.
func (r *reply) failureName() string {
	switch {
	case r.odd != "":
		return "odd reply"
	case r.failed != nil:
		return "error " + strconv.Itoa(r.failed.Code)
	default:
		return "HTTP " + strconv.Itoa(r.status)
	}
}
