"""The keys of a scene file: what each may hold, the page of all of them, and the sentences of refusal."""
