const METHOD = /^(?:HTTPS? )?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE)(?:\s|$)/i
const TRANSPORT =
  /^(?:https?|tcp|tls|dns|net|fs|grpc|undici|fetch|socket|pg|redis|middleware|request handler)(?:[\s.:/-]|$)/i
const EMPTY = /^(?:unnamed|unknown|undefined|null|span|root|trace)$/i

/** Whether the name of a root span says nothing of the work: a request, a connection, a placeholder. */
export const isNoiseName = (name: string): boolean => METHOD.test(name) || TRANSPORT.test(name) || EMPTY.test(name)
