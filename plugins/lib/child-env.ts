export {
  absentText,
  type ChildEnv,
  childEnv,
  givenNames,
  type LeftToChild,
  withheldText,
} from './child-env/child-env.ts'
