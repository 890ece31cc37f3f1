export {
  type ChildEnv,
  childEnv,
  envFlagNames,
  type LeftToChild,
  missingEnvText,
  withheldText,
} from './child-env/child-env.ts'
