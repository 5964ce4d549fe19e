"""Meshes made finer when they are read: curved between their corners, or rough by a map of heights."""
