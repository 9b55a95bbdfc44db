import { useMediaQuery } from '@mantine/hooks';

/** The maximum width of a phone, as in the style sheets. */
const PHONE = '(max-width: 700px)';

/** True on a phone. Only for cases that a style sheet cannot handle. */
export function useIsPhone(): boolean {
  return useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false;
}
