package replay

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the list
	"encoding/json"
	"fmt"
	"sync"
)

// Later is the right answer to a recorded call that Core 30.2 answers by a mistake. It is the answer of later
// versions, or of a Core without the mistake if every version has it. The answers were computed from other
// recorded answers of the same wallets, or agree with answers recorded after a second rescan.
type Later struct {
	Name     string `json:"name"` // of the case
	Reason   string `json:"reason"`
	Status   int    `json:"http_status"`
	Response string `json:"response"`
}

//go:embed later.jsonl.gz
var laterList []byte

// laterAnswers reads the list of such answers, by the names of the cases.
var laterAnswers = sync.OnceValue(func() map[string]Later {
	raw, err := gzip.NewReader(bytes.NewReader(laterList))
	if err != nil {
		panic(err) // it is part of the program
	}
	answers := make(map[string]Later)
	for dec := json.NewDecoder(raw); dec.More(); {
		var l Later
		if err := dec.Decode(&l); err != nil {
			panic(fmt.Errorf("list of later answers: %w", err))
		}
		answers[l.Name] = l
	}
	return answers
})

// LaterAnswer returns the answer of later versions of Core to the call of a case, if it is another.
func LaterAnswer(name string) (answer Later, ok bool) {
	answer, ok = laterAnswers()[name]
	return answer, ok
}

// correct puts the answer of later versions in the place of a mistake.
func (c *Case) correct() {
	if l, ok := LaterAnswer(c.Name); ok {
		c.Status, c.Response, c.Compare.Error = l.Status, &l.Response, ""
	}
}
