package rpc

import (
	"net/http"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A version is one of the two forms of request and reply.
type version int

const (
	legacy version = iota // no version, or 1.0
	v2                    // 2.0
)

// A header is what a reply repeats of its request.
type header struct {
	version version
	hasID   bool
	id      *jsontree.Value
}

// noHeader is the header before any request was read: a reply to a body that
// is no request has the id null.
var noHeader = header{hasID: true}

// notification reports whether the client wants no answer.
func (h header) notification() bool { return h.version == v2 && !h.hasID }

// A request is one call as it was sent.
type request struct {
	header
	method string
	params *jsontree.Value // array, object or null
}

// parseRequest reads one request. If it fails with a command.Error, the header
// is as complete as the request allowed. If v is not even an object, the header
// is before, which belongs to the previous request.
func parseRequest(v *jsontree.Value, before header) (request, error) {
	if v.Kind() != jsontree.Object {
		return request{header: before}, invalid("Invalid Request object")
	}
	var r request
	r.id = v.Get("id")
	r.hasID = r.id != nil
	switch version := v.Get("jsonrpc"); version.Kind() {
	case jsontree.Null:
	case jsontree.String:
		switch version.Text() {
		case "1.0":
		case "2.0":
			r.version = v2
		default:
			return r, invalid("JSON-RPC version not supported")
		}
	default:
		return r, invalid("jsonrpc field must be a string")
	}
	switch method := v.Get("method"); method.Kind() {
	case jsontree.Null:
		return r, invalid("Missing method")
	case jsontree.String:
		r.method = method.Text()
	default:
		return r, invalid("Method must be a string")
	}
	switch r.params = v.Get("params"); r.params.Kind() {
	case jsontree.Null, jsontree.Array, jsontree.Object:
		return r, nil
	default:
		return r, invalid("Params must be an array or object")
	}
}

func invalid(text string) error {
	return command.Error{Code: command.InvalidRequest, Message: text}
}

// appendResult appends the reply to a request that succeeded. The error comes
// from jsontree.Append and means a bug in the method.
func (h header) appendResult(dst []byte, result any) ([]byte, error) {
	dst, err := jsontree.Append(append(h.open(dst), `"result":`...), result)
	if err != nil {
		return nil, err
	}
	if h.version == legacy {
		dst = append(dst, `,"error":null`...)
	}
	return h.end(dst), nil
}

// appendError appends the reply to a request that failed.
func (h header) appendError(dst []byte, e command.Error) []byte {
	dst = h.open(dst)
	if h.version == legacy {
		dst = append(dst, `"result":null,`...)
	}
	dst = append(dst, `"error":`...)
	dst, _ = jsontree.Append(dst, e) // a number and a string cannot fail
	return h.end(dst)
}

func (h header) open(dst []byte) []byte {
	dst = append(dst, '{')
	if h.version == v2 {
		dst = append(dst, `"jsonrpc":"2.0",`...)
	}
	return dst
}

func (h header) end(dst []byte) []byte {
	if h.hasID {
		dst = h.id.AppendJSON(append(dst, `,"id":`...))
	}
	return append(dst, '}')
}

// status returns the HTTP status of the reply to a single request that could
// be read. Version 2 keeps failures of methods out of HTTP.
func (h header) status(failure *command.Error) int {
	switch {
	case failure == nil || h.version == v2:
		return http.StatusOK
	case failure.Code == command.InvalidRequest:
		return http.StatusBadRequest
	case failure.Code == command.MethodNotFound:
		return http.StatusNotFound
	default:
		return http.StatusInternalServerError
	}
}
