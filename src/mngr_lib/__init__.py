"""Small tools that every package may import; imports nothing of ours."""
