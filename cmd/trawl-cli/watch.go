package main

import (
	"cmp"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// watchCommand follows payments. It is no method of the node, but stands for several calls.
const watchCommand = "watch"

// noPool is what a node without a memory pool answers a search for unconfirmed payments.
const noPool = "There is no memory pool"

// watch prints payments to and spends from addresses, extended keys or descriptors as they come, until it is
// interrupted, by a search that is removed then.
func (c *client) watch(words []string) error {
	if len(words) == 0 {
		return failf("watch takes addresses, extended keys or descriptors")
	}
	objects := jsontree.NewArray()
	for _, word := range words {
		for _, text := range descriptorsOf(word) {
			objects.Append(watched(text, isKey(word) && !strings.Contains(word, "prv")))
		}
	}
	height, err := c.result("getblockcount", jsontree.NewArray())
	if err != nil {
		return err
	}
	hits, stop := c.interrupts() // from before there is a search that would stay
	defer stop()
	made, err := c.startWatch(objects, height, true)
	if err != nil && strings.Contains(err.Error(), noPool) {
		made, err = c.startWatch(objects, height, false)
	}
	if err != nil {
		return err
	}
	l := c.listing()
	l.id, l.follow, l.goes = made.Get("id").Text(), true, true
	l.node = c.api()
	err = l.run(hits)
	if _, gone := c.result("removesearch", jsontree.NewArray(jsontree.NewString(l.id))); gone != nil {
		return failf("%v\nThe search %s could not be removed: %v", cmp.Or(err, errWatchEnded), l.id, gone)
	}
	return err
}

// errWatchEnded says so where nothing is wrong.
var errWatchEnded = failf("%s", watchEnded)

// watchGap is the gap with which extended keys are watched: a shop comes to the end of any range.
const watchGap = 1000

// watched returns a descriptor as a scan object.
func watched(text string, widens bool) *jsontree.Value {
	if !widens {
		return jsontree.NewString(text)
	}
	object := jsontree.NewObject()
	object.Add("desc", jsontree.NewString(text))
	object.Add("gap", jsontree.NewInt(watchGap))
	return object
}

// startWatch makes a search that begins with the present tip.
func (c *client) startWatch(objects, height *jsontree.Value, pool bool) (*jsontree.Value, error) {
	search := jsontree.NewObject()
	search.Add("follow", jsontree.NewBool(true))
	search.Add("mempool", jsontree.NewBool(pool))
	search.Add("start_height", height)
	return c.result("createsearch", jsontree.NewArray(objects, search))
}
