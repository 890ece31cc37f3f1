/** PostgreSQL's own operators. Any other calls a function that somebody wrote. */
const OPERATORS = new Set(
  `+ - * / % ^ |/ ||/ @ & | # ~ << >> < > = <= >= <> != || ~~ !~~ ~~* !~~* ~* !~ !~* ~~~ !~~~ ^@ -> ->> #> #>> #- @> <@ ? ?| ?& @? @@ @@@ !! && &&& -|-
  &< &> <-> <^ >^ @-@ ## <<| |>> &<| |&> ?# ?- ?-| ?|| ~= <<= >>= ~<~ ~<=~ ~>~ ~>=~ <% %> <<% %>> *= *<> *< *<= *> *>= <=> <#> <+> <~>`.split(
    /\s+/,
  ),
)

export const isOwnOperator = (name: string): boolean => OPERATORS.has(name)
