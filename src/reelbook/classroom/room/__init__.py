"""The room: one server for a class, on the teacher's session.

`store` keeps students, jobs and money in a file of its own, `turns` says whose clip is sent next, `queue`
takes the clips through the session, `app` and `pages` serve students and teacher, and `serving` runs it all.
What a student may spend is reserved before the answer, in one transaction.
"""
