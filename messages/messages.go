// Package messages defines every message the actors of this module exchange.
//
// It is the bottom layer: it imports btcd's data types and nothing else of
// this module, so every other package may import it. Messages are plain
// values. Sending one hands it over: the sender must not keep, or write to,
// any slice or pointer inside it.
package messages

// Asks marks a message as a request that its receiver answers exactly once,
// with an R or with an error. Embed it first:
//
//	type TipHeight struct{ Asks[int32] }
type Asks[R any] struct{}

func (Asks[R]) answeredWith(R) {}

// Control is [Asks] for a request that is served at any load. Such a request ends something, is answered
// soon, or waits for an event that may never come. It takes none of the limited places that an actor has for
// waiting callers, so callers bound their number.
type Control[R any] struct{ Asks[R] }

// AtAnyLoad marks the request.
func (Control[R]) AtAnyLoad() {}

// A Request is any message that embeds Asks[R] or Control[R].
type Request[R any] interface{ answeredWith(R) }

// Done is the answer of a request that has nothing to tell but that it was
// carried out.
type Done struct{}
