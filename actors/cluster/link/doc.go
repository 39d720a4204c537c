// Package link is the transport of a cluster: it carries messages between nodes as frames of bytes, over TLS.
//
// A node connects to each node that it sends to. Over connections from others it only reads. So a frame reaches
// the node at its address, whatever others claim.
//
//   - Connections use TLS 1.3. Both sides prove that they know the cluster's secret, or have a
//     certificate of the operator's authority. Handshakes are bounded in number, by address,
//     and in time.
//   - The node that connects begins with its own address, in a frame. Each frame is its length, of four bytes, the
//     most significant first, and that many bytes. A frame without bytes says that the node is there. In the
//     other direction, bytes without a meaning say the same. A node that sends nothing for ten seconds is gone.
//   - Frames that peers have sent and nobody has taken yet are bounded in number, for each peer and for all.
//     Beyond the bound, connections are not read.
//   - Frames that wait for a node are bounded in number and in bytes. Above that, and when a connection ends,
//     frames are lost: callers that wait for an answer ask again.
package link
