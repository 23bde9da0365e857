"""Is what an answer claims supported by what its tools returned? The hallucination scorer and its parts."""
