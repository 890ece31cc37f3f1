/** Built-in operators of PostgreSQL. Any other operator calls a user-defined function. */
const OPERATORS = new Set(
  `+ - * / % ^ |/ ||/ @ & | # ~ << >> < > = <= >= <> != || ~~ !~~ ~~* !~~* ~* !~ !~* ~~~ !~~~ ^@ -> ->> #> #>> #- @> <@ ? ?| ?& @? @@ @@@ !! && &&& -|-
  &< &> <-> <^ >^ @-@ ## <<| |>> &<| |&> ?# ?- ?-| ?|| ~= <<= >>= ~<~ ~<=~ ~>~ ~>=~ <% %> <<% %>> *= *<> *< *<= *> *>= <=> <#> <+> <~>`.split(
    /\s+/,
  ),
)

export const isOwnOperator = (name: string): boolean => OPERATORS.has(name)
