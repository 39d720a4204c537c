package replay

import (
	"fmt"
	"slices"
	"strings"
)

// Rules say what of an answer is compared. The zero value compares all.
//
// Places are JSON pointers in which * stands for any one element.
type Rules struct {
	// Mode is "json" or empty, "bytes" (the body as text), "status" (the HTTP
	// status alone) or "any" (some JSON-RPC reply).
	Mode string `json:"mode"`

	Ignore    []string `json:"ignore"`    // places that are not compared
	Types     []string `json:"types"`     // places where only the kind counts
	Unordered []string `json:"unordered"` // arrays in any order
	Subset    []string `json:"subset"`    // objects that may have more members

	// Error says what of an error counts: "code+message" or empty, "code", or
	// "exists" (it is one).
	Error string `json:"error"`

	HTTPStatus *bool    `json:"status"` // false: the HTTP status is not compared
	AnyOf      []string `json:"any_of_responses"`

	ignore, types, unordered, subset places
}

// places are split pointers.
type places [][]string

// compile splits the pointers. The error is a word that is not known.
func (r *Rules) compile() error {
	if !slices.Contains([]string{"", "json", "bytes", "status", "any"}, r.Mode) {
		return fmt.Errorf("unknown mode %q", r.Mode)
	}
	if !slices.Contains([]string{"", "code+message", "code", "exists"}, r.Error) {
		return fmt.Errorf("unknown error rule %q", r.Error)
	}
	r.ignore, r.types = split(r.Ignore), split(r.Types)
	r.unordered, r.subset = split(r.Unordered), split(r.Subset)
	return nil
}

func split(pointers []string) places {
	var ps places
	for _, pointer := range pointers {
		ps = append(ps, strings.Split(pointer, "/")[1:])
	}
	return ps
}

// has reports whether a path is one of the places.
func (ps places) has(path []string) bool {
	return slices.ContainsFunc(ps, func(place []string) bool {
		return slices.EqualFunc(place, path, func(a, b string) bool { return a == "*" || a == b })
	})
}

// comparesStatus reports whether the HTTP status counts.
func (r *Rules) comparesStatus() bool { return r.HTTPStatus == nil || *r.HTTPStatus }
