"""The sandbox: the service's whole interface as a local server with its own state.

`server.ensure(home)` finds or starts it, `server.in_thread` is for tests, and `serving.serve` runs it in the
foreground. A `handle.Sandbox` is the handle on a running one: its address, key, controls, and the faults that
can be made to happen (`Sandbox.fault`, POST /_sandbox/faults).

What a prompt can ask for by itself, without a control, case aside:

==================  ============================================================================
 In the prompt       What becomes of the job
==================  ============================================================================
 [fail: policy]      it fails, with a word about the content policy; any other text is the error
 [slow: 60]          it takes so many whole seconds, whatever the pace
 [stuck]             it stays pending for a day, and then fails
==================  ============================================================================

What it does where the interface is silent is in `NOT_SHOWN` of openapi.py, with the switch of
`Sandbox.settings` or `Sandbox.fault` that changes it; GET /openapi.json tells it too. Beyond that:

==========================  ====================================================================
 Silent about                Chosen
==========================  ====================================================================
 estimated_duration_seconds  the length of the clip that was asked for
 when money moves            at completion, by the clip's real length; a submission is refused (402)
                             when the balance, less the estimates of jobs under way, is below its
                             own estimate, and that difference is the "current balance" it names
 unknown fields and parts    ignored; a part or parameter given twice is refused (400)
 image                       a JPEG or PNG that opens, of at most 50 million pixels; the clip takes
                             the nearest of the three shapes, upright
 seed                        -1 is drawn at acceptance; image-to-video always random
 revoked keys                revoking again is confirmed again; a revoked notebook key is replaced at
                             the sandbox's next start
 usage                       requests count when accepted, seconds and cost when completed;
                             `Sandbox.plant_history` adds a past
 rate limit                  refused requests aren't counted, all others with a valid key are,
                             whatever the answer
 X-RateLimit-Reset           whole seconds until one more request is free than now: after a 429 the
                             time until the next one is allowed. On every answer to a valid key
 other statuses              wrong methods 405, wrong content types 400, JSON above 1 MiB 413,
                             foreign host names 421
 video_url                   absolute, by the host that was asked; needs no key; byte ranges
 agent tools                 at /mcp, with one user id (`Sandbox.user_id`) for the one account; any other is
                             a 401, a page of another origin a 403, without the extra `agents` a 501.
                             The tools' names and arguments are in tool_server.py; they refuse what
                             the HTTP interface refuses, with the same words, and unknown arguments too.
                             No rate limit, which is a key's. No sessions. An image comes in base64
 connections                 2048, half of them from one address, or as many as the system's limit on open
                             files allows; a new one takes the place of its address's longest idle, and
                             gets a 503 where all are busy. 30 s for a request's head, 120 s for its body
==========================  ====================================================================
"""
