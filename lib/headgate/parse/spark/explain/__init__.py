"""Text of `explain`, in each of its forms."""
