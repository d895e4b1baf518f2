"""The room: one server for a class, on one session of the teacher's.

`store` keeps students, jobs and money in a file of its own, `turns` says whose clip is sent next, `queue`
carries the clips through the session, `app` and `pages` speak to students and teacher, and `serving` runs it
all. What a student may spend is reserved before the answer, in one transaction.
"""
