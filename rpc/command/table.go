package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// ErrMethodNotFound answers a call of a method that is in no list.
var ErrMethodNotFound = Error{MethodNotFound, "Method not found"}

// A Table is the set of methods a server offers. It is safe for concurrent
// use and does not change once it is made.
type Table struct {
	byName map[string]*Command
	sorted []*Command // by category, then name
	known  []KnownError
	list   func() string // the help text that lists all; made once

	declared *Table // before a version of Bitcoin Core was chosen; nil: none was
	version  int    // of Bitcoin Core that was chosen

	forwarder Forwarder // nil: there is none
	reader    Reader    // nil: there is none

	checksResults bool // against what the methods say of them

	mu     sync.Mutex
	active []*Call // in the order they began
}

// NewTable makes a table of the commands of all lists. The error names a command without name or function, or
// a command that is there twice.
func NewTable(lists ...[]Command) (*Table, error) {
	t := &Table{byName: map[string]*Command{}, known: []KnownError{shuttingDown}}
	t.list = sync.OnceValue(t.makeList)
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			if c.Name == "" || c.Run == nil {
				return nil, fmt.Errorf("rpc method %q has no name or no function", c.Name)
			}
			if _, twice := t.byName[c.Name]; twice {
				return nil, fmt.Errorf("rpc method %q is defined twice", c.Name)
			}
			t.byName[c.Name] = c
			t.sorted = append(t.sorted, c)
		}
	}
	slices.SortFunc(t.sorted, func(a, b *Command) int {
		if a.Category != b.Category {
			return strings.Compare(a.Category, b.Category)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return t, nil
}

// Reword has help texts of methods say other words: pairs of one and what stands in its place. Call it before
// the table is used.
func (t *Table) Reword(pairs ...string) *Table {
	if len(pairs) == 0 {
		return t
	}
	words := strings.NewReplacer(pairs...)
	for _, c := range t.sorted {
		c.words = words
	}
	return t
}

// Know adds errors of other packages that clients get in certain
// words. Call it before the table is used.
func (t *Table) Know(errs ...KnownError) *Table {
	t.known = append(t.known, errs...)
	return t
}

// Commands returns all commands, by category and name. They are not to be
// changed.
func (t *Table) Commands() []*Command { return t.sorted }

// Lookup returns a command by its name, nil where there is none. It is not to be changed.
func (t *Table) Lookup(name string) *Command { return t.byName[name] }

// A Caller is who makes a call, and by which path.
type Caller struct {
	User       string
	WalletPath *string // see [Args]
	Addr       string  // host:port that the call comes from
	Login      Login   // nil: a login of the server's own
}

// A Call is a command with checked arguments, ready to run.
type Call struct {
	command *Command
	args    *Args
	began   time.Time

	forwarded bool  // another node answers it
	login     Login // of a caller whom another node vouches for
	params    *jsontree.Value
}

// Prepare finds a method and reads its arguments. params is null, an array or
// an object. Checks come in Core's order: the method's name, names of
// parameters, their number, their types. The error is an [Error].
func (t *Table) Prepare(caller Caller, method string, params *jsontree.Value) (*Call, error) {
	c, ok := t.byName[method]
	if t.forwarder != nil {
		forwarded, err := t.forwarder.Forwards(caller, method, ok)
		if err != nil {
			return nil, err
		}
		if forwarded {
			return t.forwardedCall(caller, method, params), nil
		}
	}
	if !ok {
		return nil, ErrMethodNotFound
	}
	values, err := c.positional(params)
	if err != nil {
		return nil, err
	}
	if err := c.checkCount(len(values)); err != nil {
		return nil, err
	}
	if err := c.checkTypes(values); err != nil {
		return nil, err
	}
	args := &Args{User: caller.User, WalletPath: caller.WalletPath, Table: t, values: values}
	return &Call{command: c, args: args, login: caller.Login, params: params}, nil
}

// Name returns the method, or "(forwarded)" for a forwarded method that nobody here knows.
func (c *Call) Name() string { return c.command.Name }

// Control reports whether the call may pass calls that wait.
func (c *Call) Control() bool { return c.command.Control != nil && c.command.Control(c.args) }

// Waits reports whether the call only waits for something.
func (c *Call) Waits() bool { return c.command.Waits != nil && c.command.Waits(c.args) }

// Run runs the method, or has the forwarder run it, and returns its result.
func (c *Call) Run(ctx context.Context) (any, error) {
	t := c.args.Table
	t.begin(c)
	defer t.end(c)
	if t.forwarder == nil || c.forwarded {
		return c.run(ctx)
	}
	caller := Caller{User: c.args.User, WalletPath: c.args.WalletPath, Login: c.login}
	return t.forwarder.Own(ctx, caller, c.command.Name, c.params, func() (any, error) { return c.run(ctx) })
}

func (c *Call) run(ctx context.Context) (any, error) {
	result, err := c.command.Run(ctx, c.args)
	if usage, ok := errors.AsType[Usage](err); ok {
		err = Error{Code(usage), c.command.Help()}
	}
	result = c.command.trim(result)
	if err == nil && c.args.Table.checksResults && !c.forwarded {
		err = c.command.checkResult(result)
	}
	return result, err
}

// Reveal is [Table.Reveal] of the call's table.
func (c *Call) Reveal(err error) (Error, bool) { return c.args.Table.Reveal(err) }

// ActiveCall is a call that is running.
type ActiveCall struct {
	Method string
	Began  time.Time
}

// Active returns the calls that are running, the oldest first.
func (t *Table) Active() []ActiveCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := make([]ActiveCall, len(t.active))
	for i, c := range t.active {
		calls[i] = ActiveCall{c.command.Name, c.began}
	}
	return calls
}

func (t *Table) begin(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.began = time.Now()
	t.active = append(t.active, c)
}

func (t *Table) end(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.active, c); i >= 0 {
		t.active = slices.Delete(t.active, i, i+1)
	}
}
