package command

import (
	"context"
	"encoding/hex"
	"fmt"
	"runtime/debug"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// Do makes a call for a caller of this process and returns the result as JSON. The params are
// JSON as a client would send it, null for none; they are overwritten where the method takes
// secrets.
//
// Unlike a client that leaves, a ctx that ends does end the call; its error is returned
// then. Any other error wraps an [Error], with the code and the words that clients are
// told, and what was behind it, for errors.Is.
func (t *Table) Do(ctx context.Context, caller Caller, method string, params []byte) ([]byte, error) {
	return t.do(ctx, caller, method, params, func(result any) ([]byte, error) { return jsontree.Append(nil, result) })
}

// DoBytes is [Table.Do] of a method whose result is hexadecimal text, which the caller wants the
// bytes of. They must not be written to.
func (t *Table) DoBytes(ctx context.Context, caller Caller, method string, params []byte) ([]byte, error) {
	return t.do(ctx, caller, method, params, bytesOf)
}

// bytesOf returns the bytes that a result stands for.
func bytesOf(result any) ([]byte, error) {
	switch r := result.(type) {
	case jsontree.Hex:
		return r, nil
	case string:
		return hex.DecodeString(r)
	}
	text, err := jsontree.Append(nil, result) // of another node
	if err != nil {
		return nil, err
	}
	tree, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	digits, err := tree.AsString()
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(digits)
}

// do makes a call, whose result is written by write.
func (t *Table) do(
	ctx context.Context, caller Caller, method string, params []byte, write func(any) ([]byte, error),
) ([]byte, error) {
	tree, err := jsontree.Parse(params)
	if err != nil {
		return nil, Error{ParseError, "Parse error"}
	}
	switch tree.Kind() {
	case jsontree.Null, jsontree.Array, jsontree.Object:
	default:
		return nil, Error{InvalidRequest, "Params must be an array or object"}
	}
	call, err := t.Prepare(caller, method, tree)
	if err != nil {
		return nil, err
	}
	reply, abandoned, err := call.reply(ctx, write)
	if !abandoned {
		call.Wipe()
		if call.TakesSecrets() {
			clear(params)
		}
	}
	if (err != nil || call.Waits()) && ctx.Err() != nil { // what waits may answer that nothing came
		return nil, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	return reply, err
}

// reply runs the call. abandoned says that something may go on with its arguments.
func (c *Call) reply(
	ctx context.Context, write func(any) ([]byte, error),
) (reply []byte, abandoned bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			abandoned = true
			err = revealed{Error{InternalError, "Internal error"}, fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	result, err := c.Run(ctx)
	if err != nil {
		e, known := c.Reveal(err)
		abandoned = ctx.Err() != nil || !known || e.Code == ClientNotConnected
		return nil, abandoned, revealed{e, err}
	}
	if stream, ok := result.(Stream); ok {
		_ = stream.Close()
		return nil, false, revealed{ErrStream, ErrStream}
	}
	reply, err = write(result)
	if teller, ok := result.(Teller); ok {
		for _, secret := range teller.Secrets() {
			clear(secret)
		}
	}
	return reply, false, err
}

// revealed is what a client sees of an error.
type revealed struct {
	as    Error
	cause error
}

// Error implements error, with what a client sees.
func (r revealed) Error() string { return r.as.Error() }

// Unwrap returns both.
func (r revealed) Unwrap() []error { return []error{r.as, r.cause} }
