-- What runs around the steps of a run (chapter 18). Cleanup hooks are a column of the instance (hooks_pending in 0001):
-- while it says that a hook is due the ended instance has a due time, and the claims find it by their own index.
-- SLA alerts need no table either: a run that rests is due at its next alert at the latest.

CALL stepwell.protect_new();
