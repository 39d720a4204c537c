package corenode

import (
	"bufio"
	"encoding/hex"
	"io"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
)

type chainHash = chainhash.Hash

func bufReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func hashOf(salt, password string) string { return rpcauth.Hash(salt, password) }
