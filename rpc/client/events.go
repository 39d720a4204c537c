package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxEvent bounds the bytes of a line of the stream.
const maxEvent = 64 << 20

// An EventQuery says which events to read.
type EventQuery struct {
	Topics []string // tip, mempool, peer, scan, wallet, search

	// Search is the id of a search whose entries are read, from behind Cursor on, each with
	// MinConf confirmations; with the topic "search" alone. Empty: of none.
	Search  string
	Cursor  string
	MinConf int

	Last string // the id of the last event that was read before; empty: none
}

// An Event is an announcement of a node.
type Event struct {
	ID   string // to go on behind it: [EventQuery.Last]
	Name string
	Data json.RawMessage
}

// Events returns the events of a node. A connection that is lost is made again, and goes on behind
// the last event that was read; an event "reset" says where something may be missing. It ends with
// ctx, and with what the node refuses: [*StatusError].
func (c *Client) Events(ctx context.Context, q EventQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var again retry
		for {
			stopped := false
			err := c.readEvents(ctx, &q, func(e Event) bool {
				again = retry{}
				stopped = !yield(e, nil)
				return !stopped
			})
			if stopped {
				return
			}
			if !again.after(ctx, c.cfg.Cookie != "", err) {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				yield(Event{}, err)
				return
			}
		}
	}
}

var errEnded = errors.New("the stream has ended")

// readEvents reads one connection. The query goes on behind each event that was taken.
func (c *Client) readEvents(ctx context.Context, q *EventQuery, take func(Event) bool) error {
	values := url.Values{"topics": {strings.Join(q.Topics, ",")}}
	if q.Search != "" {
		values.Set("search", q.Search)
		values.Set("cursor", q.Cursor)
	}
	if q.MinConf > 0 {
		values.Set("minconf", strconv.Itoa(q.MinConf))
	}
	request, err := c.request(ctx, http.MethodGet, "/events?"+values.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	if q.Last != "" {
		request.Header.Set("Last-Event-ID", q.Last)
	}
	reply, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 200))
		return &StatusError{reply.StatusCode, string(text)}
	}
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, maxEvent)
	var e Event
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			e.ID = value
		case "event":
			e.Name = value
		case "data":
			e.Data = json.RawMessage(value)
		}
		if lines.Text() != "" {
			continue
		}
		if e.ID != "" {
			q.Last = e.ID
		}
		if e.Name != "" && !take(e) {
			return nil
		}
		e = Event{}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errEnded
}
