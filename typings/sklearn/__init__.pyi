# The few names of scikit-learn that Ridgeway uses, typed: the package itself ships no types.
