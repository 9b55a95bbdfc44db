import { useMediaQuery } from '@mantine/hooks';

/** The width of a phone, as in the style sheets. */
const PHONE = '(max-width: 700px)';

/** True on a phone. Only for what a style sheet cannot do. */
export function useIsPhone(): boolean {
  return useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false }) ?? false;
}
