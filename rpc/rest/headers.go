package rest

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxHeaders is how many headers one request may ask for.
const maxHeaders = 2000

// countOf reads how many headers are asked for.
func countOf(text string) (int, error) {
	n, ok := number(text, 1, maxHeaders)
	if !ok {
		return 0, refuse(statusBadRequest, fmt.Sprintf(
			"Header count is invalid or out of acceptable range (1-%d): %s", maxHeaders, text))
	}
	return int(n), nil
}

// parts splits a path of n parts, or of one more, the next to last of which is the count.
func (r *request) parts(n int, usage string) (parts []string, count string, err error) {
	parts = strings.Split(r.part, "/")
	switch len(parts) {
	case n:
		count, err = r.query("count", "5")
		return parts, count, err
	case n + 1:
		count = parts[n-1]
		return append(parts[:n-1:n-1], parts[n]), count, nil
	}
	return nil, "", refuse(statusBadRequest, "Invalid URI format. Expected "+usage)
}

// active returns the headers of the active chain from a block on, at most count of them; none
// where the block is not in it.
func (r *request) active(ctx context.Context, hash string, count int) ([]*jsontree.Value, error) {
	var found []*jsontree.Value
	err := r.steady(ctx, func(string) error {
		found = found[:0]
		for next := hash; next != "" && len(found) < count; {
			header, err := r.call(ctx, "getblockheader", jsontree.NewString(next))
			if clientCode(err) == command.InvalidAddressOrKey {
				return nil
			}
			if err != nil {
				return err
			}
			if header.Get("confirmations").Text() == "-1" {
				return nil
			}
			found = append(found, header)
			next = header.Get("nextblockhash").Text()
		}
		return nil
	})
	return found, err
}

func headers(ctx context.Context, r *request) (Reply, error) {
	parts, text, err := r.parts(1, "/rest/headers/<hash>.<ext>?count=<count>")
	if err != nil {
		return Reply{}, err
	}
	count, err := countOf(text)
	if err != nil {
		return Reply{}, err
	}
	hash := parts[0]
	if err := checkHash(hash); err != nil {
		return Reply{}, err
	}
	if r.format == none {
		return Reply{}, errFormat
	}
	if r.format == jsonText {
		text, err := r.headersText(ctx, hash, count)
		return document(text), err
	}
	data, err := r.serializedHeaders(ctx, hash, count)
	if err != nil {
		return Reply{}, err
	}
	return inFormat(r.format, data)
}

// headersText is [request.active] of the headers as JSON.
func (r *request) headersText(ctx context.Context, from string, count int) ([]byte, error) {
	reader := r.node.Reader()
	if reader == nil {
		found, err := r.active(ctx, from, count)
		return jsontree.NewArray(found...).AppendJSON(nil), err
	}
	hash, err := chainhash.NewHashFromStr(from)
	if err != nil {
		return nil, err
	}
	return reader.HeadersText(hash, count)
}

// serializedHeaders is [request.active] of the headers as bytes.
func (r *request) serializedHeaders(ctx context.Context, from string, count int) ([]byte, error) {
	if reader := r.node.Reader(); reader != nil {
		hash, err := chainhash.NewHashFromStr(from)
		if err != nil {
			return nil, err
		}
		return reader.Headers(hash, count)
	}
	found, err := r.activeHashes(ctx, from, count)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, hash := range found {
		header, err := r.bytes(ctx, "getblockheader", jsontree.NewString(hash), jsontree.NewBool(false))
		if err != nil {
			return nil, err
		}
		data = append(data, header...)
	}
	return data, nil
}

// activeHashes is [request.active] of the hashes alone.
func (r *request) activeHashes(ctx context.Context, hash string, count int) (found []string, err error) {
	err = r.steady(ctx, func(string) error {
		found = found[:0]
		first, err := r.call(ctx, "getblockheader", jsontree.NewString(hash))
		if clientCode(err) == command.InvalidAddressOrKey {
			return nil
		}
		if err != nil || first.Get("confirmations").Text() == "-1" {
			return err
		}
		height, err := first.Get("height").AsInt64()
		if err != nil {
			return err
		}
		next := first.Get("hash").Text()
		for {
			if found = append(found, next); len(found) == count {
				return nil
			}
			height++
			next, err = r.text(ctx, "getblockhash", jsontree.NewInt(height))
			if clientCode(err) == command.InvalidParameter { // above the tip
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	return found, err
}

// basic names the one kind of filters there is (BIP158).
const basic = "basic"

// checkFilter checks the name of a block and a kind of filter.
func checkFilter(hash, kind string) error {
	if err := checkHash(hash); err != nil {
		return err
	}
	if kind != basic {
		return refuse(statusBadRequest, "Unknown filtertype "+kind)
	}
	return nil
}

// filter returns the filter of a block with its header.
func (r *request) filter(ctx context.Context, hash string) (*jsontree.Value, error) {
	v, err := r.call(ctx, "getblockfilter", jsontree.NewString(hash), jsontree.NewString(basic))
	return v, noFilter(hash, err)
}

// noFilter says of a block by its name why its filter cannot be had.
func noFilter(hash string, err error) error {
	text := clientText(err)
	switch {
	case strings.HasPrefix(text, "Index is not enabled"):
		return refuse(statusBadRequest, text)
	case strings.HasPrefix(text, "Filter not found."):
		return refuse(statusNotFound, text)
	case text == "Block not found":
		return refuse(statusNotFound, hash+" not found")
	}
	return err
}

// filterBytes is [request.filter] of the filter alone.
func (r *request) filterBytes(ctx context.Context, name string) ([]byte, error) {
	reader := r.node.Reader()
	if reader == nil {
		found, err := r.filter(ctx, name)
		if err != nil {
			return nil, err
		}
		return hex.DecodeString(found.Get("filter").Text())
	}
	hash, err := chainhash.NewHashFromStr(name)
	if err != nil {
		return nil, err
	}
	filter, err := reader.Filter(ctx, hash)
	return filter, noFilter(name, err)
}

func blockFilter(ctx context.Context, r *request) (Reply, error) {
	parts := strings.Split(r.part, "/")
	if len(parts) != 2 {
		return Reply{}, refuse(statusBadRequest,
			"Invalid URI format. Expected /rest/blockfilter/<filtertype>/<blockhash>")
	}
	kind, hash := parts[0], parts[1]
	if err := checkFilter(hash, kind); err != nil {
		return Reply{}, err
	}
	filter, err := r.filterBytes(ctx, hash)
	if err != nil {
		return Reply{}, err
	}
	if r.format == jsonText {
		object := jsontree.NewObject()
		object.Add("filter", jsontree.NewString(hex.EncodeToString(filter)))
		return document(object.AppendJSON(nil)), nil
	}
	data, err := appendHash([]byte{0}, hash) // 0 is the kind
	if err != nil {
		return Reply{}, err
	}
	return inFormat(r.format, append(command.AppendCount(data, len(filter)), filter...))
}

func filterHeaders(ctx context.Context, r *request) (Reply, error) {
	parts, text, err := r.parts(2, "/rest/blockfilterheaders/<filtertype>/<blockhash>.<ext>?count=<count>")
	if err != nil {
		return Reply{}, err
	}
	count, err := countOf(text)
	if err != nil {
		return Reply{}, err
	}
	kind, hash := parts[0], parts[1]
	if err := checkFilter(hash, kind); err != nil {
		return Reply{}, err
	}
	found, err := r.filterHeaders(ctx, hash, count)
	if err != nil {
		return Reply{}, err
	}
	if r.format == jsonText {
		list := jsontree.NewArray()
		for i := range found {
			list.Append(jsontree.NewString(found[i].String()))
		}
		return document(list.AppendJSON(nil)), nil
	}
	data := make([]byte, 0, len(found)*chainhash.HashSize)
	for i := range found {
		data = append(data, found[i][:]...)
	}
	return inFormat(r.format, data)
}

// filterHeaders is [request.active] of the filter headers.
func (r *request) filterHeaders(ctx context.Context, from string, count int) ([]chainhash.Hash, error) {
	reader := r.node.Reader()
	if reader == nil {
		return r.filterHeadersByCalls(ctx, from, count)
	}
	hash, err := chainhash.NewHashFromStr(from)
	if err != nil {
		return nil, err
	}
	found, err := reader.FilterHeaders(ctx, hash, count)
	return found, noFilter(from, err)
}

func (r *request) filterHeadersByCalls(
	ctx context.Context, from string, count int,
) (found []chainhash.Hash, err error) {
	if _, err := r.filter(ctx, from); err != nil {
		if shown, ok := err.(refusal); ok && shown.status == statusBadRequest { //nolint:errorlint // never wrapped
			return nil, err // there is no index, whatever the block
		}
	}
	blocks, err := r.activeHashes(ctx, from, count)
	if err != nil {
		return nil, err
	}
	for _, block := range blocks {
		filter, err := r.filter(ctx, block)
		if err != nil {
			return nil, err
		}
		header, err := chainhash.NewHashFromStr(filter.Get("header").Text())
		if err != nil {
			return nil, err
		}
		found = append(found, *header)
	}
	return found, nil
}
