import { may } from '@palisade/contract/may';

/** The policy of the desk under a name that no tool takes for a hook of React. */
export const opensDesk = may.useDesk;
