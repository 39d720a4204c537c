package corenode

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// MaxHeaders bounds the headers that [Client.Headers] returns.
const MaxHeaders = 2000

const headerSize = 80

// Get returns what REST has at a path, as "/rest/chaininfo.json". REST asks for no login.
// If Core does not have the object, Get returns an [Error] with the matching code of RPC
// and Core's words.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	return c.getWithin(ctx, path, smallReply)
}

// getWithin is Get for what may have so many bytes.
func (c *Client) getWithin(ctx context.Context, path string, limit int64) ([]byte, error) {
	body, err := c.get(ctx, path, min(limit, c.maxReply))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return body, nil
}

func (c *Client) get(ctx context.Context, path string, limit int64) ([]byte, error) {
	ctx, cancel := c.limit(ctx, c.patience(c.timeout))
	defer cancel()
	reply, err := c.send(ctx, c.own, http.MethodGet, path, "", nil, limit)
	if err != nil {
		return nil, err
	}
	defer reply.release()
	words := string(reply.Body[:min(len(reply.Body), 200)])
	switch reply.Status {
	case http.StatusOK:
		return reply.Body, nil
	case http.StatusServiceUnavailable: // warm-up too
		return nil, away("%q", c.hideLogin(words))
	case http.StatusNotFound, http.StatusBadRequest:
		if len(words) == 0 {
			return nil, ErrNoREST
		}
		return nil, c.withoutLogin(&Error{Code: codeNotFound, Message: trimLine(words)})
	case http.StatusForbidden, http.StatusUnauthorized: // an address that -rpcallowip does not allow, or a proxy
		return nil, ErrNoREST
	default:
		return nil, fmt.Errorf("%w: HTTP status %d", ErrReply, reply.Status)
	}
}

// codeNotFound is Core's RPC_INVALID_ADDRESS_OR_KEY, which RPC has for unknown blocks.
const codeNotFound = -5

func trimLine(s string) string {
	for len(s) > 0 && (s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}

// Block returns a block as the network serializes it.
func (c *Client) Block(ctx context.Context, hash *chainhash.Hash) ([]byte, error) {
	return c.getWithin(ctx, "/rest/block/"+hash.String()+".bin", blockReply)
}

// SpentOutputs returns what the inputs of a block spend, by transaction, as Core's
// /rest/spenttxouts has it in binary form. Core has it from version 30 on.
func (c *Client) SpentOutputs(ctx context.Context, hash *chainhash.Hash) ([]byte, error) {
	return c.getWithin(ctx, "/rest/spenttxouts/"+hash.String()+".bin", MaxReply)
}

// Headers returns up to count serialized headers of 80 bytes of the active chain, from a
// block on. There are none where the block is not in that chain. count is at most
// [MaxHeaders].
func (c *Client) Headers(ctx context.Context, from *chainhash.Hash, count int) ([]byte, error) {
	path := "/rest/headers/" + from.String() + ".bin?count=" + strconv.Itoa(count)
	headers, err := c.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	if len(headers)%headerSize != 0 || len(headers) > count*headerSize {
		return nil, fmt.Errorf("%s: %w: %d bytes", path, ErrReply, len(headers))
	}
	return headers, nil
}

// BlockFilter returns the basic filter of a block as BIP158 encodes it.
func (c *Client) BlockFilter(ctx context.Context, hash *chainhash.Hash) ([]byte, error) {
	path := "/rest/blockfilter/basic/" + hash.String() + ".bin"
	body, err := c.getWithin(ctx, path, blockReply)
	if err != nil {
		return nil, err
	}
	filter, ok := parseFilter(body, hash)
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrReply)
	}
	return filter, nil
}

// parseFilter reads a filter as cfilter messages have it: type, block, length, bytes.
func parseFilter(body []byte, hash *chainhash.Hash) (filter []byte, ok bool) {
	const basic = 0
	if len(body) < 1+chainhash.HashSize+1 || body[0] != basic || chainhash.Hash(body[1:1+chainhash.HashSize]) != *hash {
		return nil, false
	}
	body = body[1+chainhash.HashSize:]
	length, size, ok := compactSize(body)
	if !ok || length != uint64(len(body)-size) {
		return nil, false
	}
	return body[size:], true
}

// compactSize reads a length and how many bytes it takes.
func compactSize(b []byte) (n uint64, size int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	switch b[0] {
	case 0xfd:
		size = 3
	case 0xfe:
		size = 5
	case 0xff:
		size = 9
	default:
		return uint64(b[0]), 1, true
	}
	if len(b) < size {
		return 0, 0, false
	}
	for i := size - 1; i > 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n, size, true
}

// ChainInfo returns what getblockchaininfo tells, by REST.
func (c *Client) ChainInfo(ctx context.Context) (ChainInfo, error) {
	const path = "/rest/chaininfo.json"
	body, err := c.Get(ctx, path)
	if err != nil {
		return ChainInfo{}, err
	}
	return parseChainInfo(body)
}

func parseChainInfo(body []byte) (ChainInfo, error) {
	var info ChainInfo
	if err := json.Unmarshal(body, &info); err != nil || info.Chain == "" || len(info.Chain) > maxName {
		return ChainInfo{}, fmt.Errorf("%w: chain info", ErrReply)
	}
	return info, nil
}
