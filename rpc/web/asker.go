package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/seed61375155/trawl/rpc"
)

// An asker is who is logged in and asks for a page, or for what scripts of one want.
type asker struct {
	Name     string     // what is asked for: the path below /ui/ without the query, empty for /
	Base     string     // leads from there to /, as a relative URL
	User     string     // the login's name
	Token    string     // for the header X-Trawl-Token; empty without a session
	Methods  []string   // that the login may call, in order; none while the node is starting
	Look     appearance // how the browser shows pages
	Assets   string     // leads to the files of pages
	Typed    string     // into the box, for the form of a new search
	Starting string     // what the node does instead of answering calls, in its words; empty: it answers

	door    *rpc.Door
	visitor *rpc.Visitor
	from    string

	answered bool // an answer has begun
}

// May reports whether the asker may call a method.
func (a *asker) May(method string) bool { return a.visitor.MayCall(method) }

// Has reports whether there is a method, and the asker may call it. There is none while the node
// is starting.
func (a *asker) Has(method string) bool {
	_, found := slices.BinarySearch(a.Methods, method)
	return found
}

// Call makes a call in the asker's name, within the limits for all; wallet is that of the path
// /wallet/, or nil. The error of a call that was refused is a callError.
func (a *asker) Call(ctx context.Context, wallet *string, method string, params ...any) (json.RawMessage, error) {
	list, err := json.Marshal(params) // none is null, as good as an empty list
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", method, err)
	}
	status, reply := a.door.Do(ctx, a.visitor, a.from, wallet, method, list)
	if status != http.StatusOK {
		return nil, callError{Message: fmt.Sprintf("%s: %s", method, http.StatusText(status)), Status: status}
	}
	var envelope struct {
		Result json.RawMessage
		Error  *callError
	}
	if err := json.Unmarshal(reply, &envelope); err != nil {
		return nil, fmt.Errorf("reply to %s: %w", method, err)
	}
	if envelope.Error != nil {
		return nil, *envelope.Error
	}
	return envelope.Result, nil
}

// internalError is the code of JSON-RPC for what the node cannot put into words.
const internalError = -32603

// A callError is why a call was refused.
type callError struct {
	Code    int // of JSON-RPC; 0: the server refused the call before
	Message string
	Status  int `json:"-"` // of HTTP
}

// isAnswer reports whether the node could answer: it was not too busy for the call, and has not failed itself.
func (e callError) isAnswer() bool { return e.Code != 0 && e.Code != internalError }

// Error implements error, with the words for clients.
func (e callError) Error() string { return e.Message }

// reply answers with a body of a type.
func (a *asker) reply(w http.ResponseWriter, status int, kind string, body []byte) {
	a.answered = true
	a.door.Reply(w, status, kind, body)
}
