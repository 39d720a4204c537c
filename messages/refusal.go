package messages

// A Refusal is an error about a request: the actor that answers with it is well, and
// serves the next. Every error of this package is one; any other error of what an
// actor works with means that the actor cannot go on.
type Refusal interface {
	error

	// AboutRequest does nothing.
	AboutRequest()
}

// refused is a refusal that is nothing but its text.
type refused struct{ text string }

func (r *refused) Error() string { return r.text }

// AboutRequest implements [Refusal].
func (*refused) AboutRequest() {}

// refusal returns a new error about a request.
func refusal(text string) error { return &refused{text} }
