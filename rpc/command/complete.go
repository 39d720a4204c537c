package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// categories are those that exist.
var categories = []string{
	Blockchain, Control, Generating, Hidden, Mining, Network, RawTransactions, Signer, Util, Wallet, ZMQ,
}

// Check reports every command that is not documented in full, and is meant for a test. A command
// must have a category, a summary, a result, an example, and facts (About, Effect, At) that do not
// contradict each other. Its parameters must have a type and help, and it must not refuse its own
// examples.
func (t *Table) Check() error {
	var errs []error
	for _, c := range t.sorted {
		for _, err := range c.incomplete() {
			errs = append(errs, fmt.Errorf("rpc method %s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Command) incomplete() []error {
	var errs []error
	if !slices.Contains(categories, c.Category) {
		errs = append(errs, fmt.Errorf("no such category: %q", c.Category))
	}
	if wrong := c.wrongFacts(); wrong != "" {
		errs = append(errs, errors.New(wrong))
	}
	if c.Summary == "" {
		errs = append(errs, errors.New("no summary"))
	}
	if len(c.Results) == 0 && c.Category != Hidden { // a removed method has none
		errs = append(errs, errors.New("no result"))
	}
	versions := map[string][2]int{}
	for i := range c.Results {
		errs = append(errs, c.Results[i].incomplete()...)
		errs = append(errs, c.Results[i].contradictions("", versions)...)
	}
	for i := range c.Params {
		errs = append(errs, c.Params[i].incomplete(true)...)
	}
	if len(c.Examples) == 0 && c.Category != Hidden {
		errs = append(errs, errors.New("no example"))
	}
	for _, example := range c.Examples {
		if err := c.refuses(example); err != nil {
			errs = append(errs, fmt.Errorf("example %s: %w", example, err))
		}
	}
	return errs
}

// incomplete checks a parameter; elements of arrays need no name.
func (p *Param) incomplete(named bool) []error {
	var errs []error
	if p.Name == "" && named {
		errs = append(errs, errors.New("parameter without name"))
	}
	if p.Type == 0 || p.Type > NamedOptions {
		errs = append(errs, fmt.Errorf("parameter %s has no type", p.Name))
	}
	if p.Help == "" && named && !p.Hidden {
		errs = append(errs, fmt.Errorf("parameter %s has no help", p.Name))
	}
	for i := range p.Inner {
		errs = append(errs, p.Inner[i].incomplete(p.Type != Array)...)
	}
	return errs
}

func (r *Result) incomplete() []error {
	var errs []error
	if r.Type == 0 || r.Type == Range || r.Type == NamedOptions {
		errs = append(errs, fmt.Errorf("result %s has no type", r.Key))
	}
	for i := range r.Inner {
		if inner := &r.Inner[i]; r.Type == Object && inner.Key == "" && inner.Type != Elision {
			errs = append(errs, fmt.Errorf("member of result %s has no key", r.Key))
		}
		errs = append(errs, r.Inner[i].incomplete()...)
	}
	return errs
}

// contradictions returns an error for each member that alternatives have in different versions of Bitcoin Core. The
// result stands at a place; versions are those of the members seen before.
func (r *Result) contradictions(at string, versions map[string][2]int) []error {
	var errs []error
	for i := range r.Inner {
		inner := &r.Inner[i]
		key := at + "[]"
		if r.Type == Object && inner.Type != Elision {
			key = at + "." + inner.Key
			here := [2]int{inner.Since, inner.Until}
			if before, seen := versions[key]; seen && before != here {
				errs = append(errs, fmt.Errorf("result %s is of versions %v, and of %v", key, before, here))
			}
			versions[key] = here
		}
		errs = append(errs, inner.contradictions(key, versions)...)
	}
	return errs
}

// refuses returns the error that an example's call would get.
func (c *Command) refuses(example string) error {
	params, err := jsontree.Parse([]byte(example))
	if err != nil {
		return err
	}
	values, err := c.positional(params)
	if err != nil {
		return err
	}
	if err := c.checkCount(len(values)); err != nil {
		return errors.New("wrong number of arguments")
	}
	return c.checkTypes(values)
}
