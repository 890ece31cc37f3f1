/** What rules stop, by code: what happened, what to do about it. */
export const blocks = {
  LOOP_EXACT: ['The same request was repeated', 'Send a new instruction, or resume the session.'],
  LOOP_TOOL_CALL: ['The same tool call was repeated', 'Send a new instruction, or resume the session.'],
  LOOP_CONTENT: ['A reply repeats itself', 'Send a new instruction, or ask for a shorter reply.'],
  LOOP_ERROR_RETRY: ['The same upstream error came again and again', 'Wait for the cool-down, or resume the session.'],
  LOOP_NO_PROGRESS: ['Tool results bring nothing new', 'Send a new instruction, or resume the session.'],
  LOOP_REASONING: [
    'Replies only reason',
    'Send a new instruction, raise the token limit of replies, or ask for less reasoning.',
  ],
  LOOP_REREAD: ['One target is looked at again and again', 'Send a new instruction, or resume the session.'],
  LOOP_RESPAWN: ['Conversations begin alike again and again', 'Send a new instruction, or resume the session.'],
  LOOP_RESTART: [
    'The same agent is started again and again, and nothing new comes of it',
    'Stop what starts it, or give it another task; its earlier starts are forgotten after a while.',
  ],
  LOOP_REWORDED: ['The same tool call was repeated in other words', 'Send a new instruction, or resume the session.'],
  LOOP_SEQUENCE: ['A sequence of requests was repeated', 'Send a new instruction, or resume the session.'],
  LOOP_STALE: ['Turns repeat earlier calls and get earlier results', 'Send a new instruction, or resume the session.'],
  LOOP_TEXT: ['The same reply was repeated', 'Send a new instruction, or resume the session.'],
  LOOP_TOOL_ERROR: ['A tool fails the same way again and again', 'Send a new instruction, or resume the session.'],
  LOOP_WORDED_ERROR: [
    'A tool complains in the same words again and again',
    'Send a new instruction, or resume the session.',
  ],
  LIMIT_COST: ['A budget of money is used up', 'Raise the threshold of the rule, or begin a new session.'],
  LIMIT_REQUESTS: ['A budget of requests is used up', 'Raise the threshold of the rule, or begin a new session.'],
  LIMIT_TOKENS: ['A budget of tokens is used up', 'Raise the threshold of the rule, or begin a new session.'],
} as const
