// Package follow keeps a target in step with the active chain: an index, a wallet, the
// memory pool, whatever takes blocks in one after the other.
//
// # Contract
//
//  1. Order. Blocks that left the chain are disconnected first, the highest first, down to
//     the fork; then blocks are connected in ascending order, each on its parent. No block
//     is left out, and none comes twice without having been disconnected. One step runs at
//     a time, and has at most [Config.Batch] blocks.
//     The way ends at the active tip, or where [Config.To] says.
//
//  2. The position is the only truth. [Target.Position] is read before every step, so a
//     restart, a crash, or a step that was taken in part need no code of their own. A target
//     on disk writes its position in one commit with what belongs to it.
//
//  3. Lag. Announcements of tips coalesce, and a target may be a million blocks behind. No
//     wake-up is lost: a step is followed by another until there is nothing left to do.
//
//  4. The chain is away ([chainview.ErrClosed]): the follower waits for its next tip. A block
//     is not here yet ([chainview.ErrNotYet]): it tries again with the next tip, or after
//     [Config.Retry].
//     The blocks before a snapshot that the chain begins with are taken in as they are
//     validated ([chainview.Assumed]); a wait for a block behind them ends with ErrNotYet. A
//     target that needs none of them leaps ([Config.Leaps]).
//
//  5. Damage ([ErrDamaged], from a step or told by [Follower.Damaged]), and a position that the
//     chain does not know: the target is reset, and built again from where it then is. A
//     target that is damaged again before it has reached the tip has failed.
//
//  6. Failure, which is any other error: the error ends all waits of [Follower.When]. With
//     [Config.Failed] set the actor stops; else the follower tries again with the next tip,
//     when somebody waits, or after [Config.Retry].
//
//  7. Pruning. [Hold] keeps the blocks that a target has yet to read before any is pruned. Then
//     [Config.PruneLocks] is notified of each position that survives a loss of power, and keeps
//     what is above.
//
//  8. Stale branches. A [Recorder] is led through blocks that were connected and have left the chain
//     before it saw them, and back, in steps as those to the tip. A wait for the tip includes these steps.
//
// A step runs in a worker; what it returns runs in the actor that owns the Follower. So a
// target may keep its state in either, but not in both.
package follow
