package load

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed61375155/trawl/rpc/client"
)

// Search stands in a [Mix] for a search from its creation to its removal. Its entries are read in pieces
// until it ends; the caller aborts one of four searches early.
const Search = "search"

const (
	searchWait    = time.Second // for entries, in one call
	maxPage       = 1000        // entries
	oneOfSearches = 4           // is aborted
	cleanUp       = 10 * time.Second
)

// searches are what callers need to make searches. Nil: none are made.
type searches struct {
	node    *client.Client
	objects json.RawMessage
	stop    int32
	prefix  string // of names

	// marks[n] stands for the first n entries of the undisturbed search.
	marks []mark
}

// A mark is a digest of all entries up to one.
type mark [sha256.Size]byte

func (m mark) next(e *client.Entry) mark { return sha256.Sum256(append(m[:], e.Text...)) }

// measureSearch runs the undisturbed search.
func (r *Run) measureSearch(ctx context.Context) error {
	user, password, _ := strings.Cut(r.config.Login, ":")
	s := &searches{
		node: client.New(client.Config{
			URL: "http://" + r.config.Addr, User: user, Password: password,
			HTTP: &http.Client{Timeout: r.config.Timeout, Transport: &http.Transport{
				DialContext:         (&net.Dialer{Timeout: r.config.Timeout}).DialContext,
				MaxIdleConnsPerHost: r.config.Callers, DisableCompression: true, IdleConnTimeout: idleLimit,
			}},
		}),
		objects: r.config.Objects, stop: r.result.Height,
		prefix: fmt.Sprintf("trawl-load %x ", time.Now().UnixNano()), marks: []mark{{}},
	}
	defer s.sweep(context.WithoutCancel(ctx))
	id, err := s.make(ctx, "undisturbed")
	if err != nil {
		return err
	}
	began := time.Now()
	for page, err := range s.node.FollowSearch(ctx, id, "") {
		if err != nil {
			return err
		}
		for i := range page.Entries {
			s.marks = append(s.marks, s.marks[len(s.marks)-1].next(&page.Entries[i]))
		}
		if page.State == client.Failed || page.State == client.Aborted || page.State == client.Paused {
			return fmt.Errorf("the undisturbed search is %s at height %d of %d %s",
				page.State, page.Height, s.stop, page.Error)
		}
	}
	r.result.Search, r.result.Entries = time.Since(began), len(s.marks)-1
	r.searches = s
	return nil
}

// make makes a search with a name of its own.
func (s *searches) make(ctx context.Context, name string) (id string, err error) {
	var made struct {
		ID string `json:"id"`
	}
	options := client.SearchOptions{Name: s.prefix + name, Stop: &s.stop}
	err = s.node.Call(ctx, &made, "createsearch", s.objects, options)
	return made.ID, err
}

// sweep removes the searches of this run that are left, and tries again where the node has too much to do.
func (s *searches) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cleanUp)
	defer cancel()
	for ctx.Err() == nil {
		err := s.sweepOnce(ctx)
		if _, busy := errors.AsType[*client.StatusError](err); !busy {
			return
		}
		select {
		case <-time.After(errorPause):
		case <-ctx.Done():
		}
	}
}

func (s *searches) sweepOnce(ctx context.Context) error {
	all, err := s.node.ListSearches(ctx)
	for i := range all {
		if strings.HasPrefix(all[i].Name, s.prefix) {
			_, lost := s.node.RemoveSearch(ctx, all[i].ID)
			err = errors.Join(err, lost)
		}
	}
	return err
}

// A reading is one search, as a caller reads it.
type reading struct {
	*searches
	id     string
	cursor string
	count  int // entries that were read
	mark   mark
	abort  bool // it is to end early
	atOnce bool // without having found anything
	over   bool // the run is, and so is the search
	asked  bool // it was aborted
	limit  int  // of pages
}

// search makes a search, reads it to its end, and removes it.
func (c *caller) search(ctx context.Context) (outcome string, good bool) {
	r := c.run
	c.sequence++
	seed := rand.NewPCG(r.config.Seed, uint64(c.number)<<32|uint64(c.sequence))
	random := rand.New(seed) //nolint:gosec // has to be repeatable
	read := &reading{
		searches: r.searches, limit: 1 + random.IntN(maxPage),
		abort: random.IntN(oneOfSearches) == 0, atOnce: random.IntN(2) == 0,
	}
	at := Span{Sent: r.now()}
	outcome, fault, err := read.whole(ctx, fmt.Sprintf("%d.%d", c.number, c.sequence))
	at.Received = r.now()
	if fault != "" {
		r.history.Searched(at, fault)
		return outcome, false
	}
	return c.searchOutcome(outcome, err)
}

// searchOutcome names what came of a search that has told nothing wrong.
func (c *caller) searchOutcome(outcome string, err error) (name string, good bool) {
	if err == nil {
		return outcome, true
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		if strings.HasPrefix(refused.Message, "Limit of ") {
			return busy, true
		}
		return (&reply{failed: &failure{refused.Code, refused.Message}}).failureName(), false
	}
	c.run.searchLost.Store(true)
	if status, ok := errors.AsType[*client.StatusError](err); ok {
		return (&reply{status: status.Status}).failureName(), false
	}
	c.run.losses.add(err)
	return noReply, false
}

// whole is the life of a search. fault says what no search can have told.
func (s *reading) whole(ctx context.Context, name string) (outcome, fault string, err error) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if s.id, err = s.make(calls, name); err != nil {
		return "", "", err
	}
	state := ""
	for state == "" && fault == "" && err == nil {
		s.over = ctx.Err() != nil
		state, fault, err = s.page(calls)
	}
	removed, lost := s.node.RemoveSearch(calls, s.id)
	if err == nil {
		err = lost
	}
	switch {
	case err != nil || fault != "":
		return "wrong", fault, err
	case !removed:
		return "wrong", "a search that was not removed was not there", nil
	}
	return map[string]string{client.Done: completed, client.Aborted: aborted}[state], "", nil
}

// page reads once, and returns the state of a search that has ended when all its entries were read.
func (s *reading) page(ctx context.Context) (ended, fault string, err error) {
	due := s.abort && (s.atOnce || s.count > 0 || len(s.marks) == 1)
	if !s.asked && (s.over || due) {
		s.asked = true
		if _, err := s.node.AbortSearch(ctx, s.id); err != nil {
			return "", "", err
		}
	}
	page, err := s.node.SearchEntries(ctx, s.id, s.cursor, s.limit)
	if err == nil && len(page.Entries) == 0 && page.State != client.Done && page.State != client.Aborted {
		page, err = s.node.WaitForSearch(ctx, s.id, s.cursor, searchWait)
	}
	if err != nil {
		return "", "", err
	}
	s.cursor = page.Cursor
	for i := range page.Entries {
		s.mark = s.mark.next(&page.Entries[i])
	}
	s.count += len(page.Entries)
	switch whole := len(s.marks) - 1; {
	case s.count > whole:
		return "", fmt.Sprintf("%d entries, and the undisturbed search has %d", s.count, whole), nil
	case s.mark != s.marks[s.count]:
		return "", fmt.Sprintf("its first %d entries are not those of the undisturbed search", s.count), nil
	case page.More:
		return "", "", nil
	case page.State == client.Failed:
		return "", "it failed: " + page.Error, nil
	case page.State == client.Aborted && !s.asked:
		return "", "it is aborted, and nobody did that", nil
	case page.State == client.Done && s.count < whole:
		return "", fmt.Sprintf("it is done with %d entries, and the undisturbed search has %d", s.count, whole), nil
	case page.State == client.Done && page.Height != s.stop:
		return "", fmt.Sprintf("it is done at height %d of %d", page.Height, s.stop), nil
	case page.State == client.Done || page.State == client.Aborted:
		return page.State, "", nil
	}
	return "", "", nil
}
