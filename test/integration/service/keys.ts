/** Variables that a service gets, with what files of variables quote. */
export const KEYS = { MODEL_KEY: `it's #1 = a key`, SECOND_KEY: 'a"b $HOME \\t `c` # d', PLAIN_KEY: 'sk-1/2+3=' }
