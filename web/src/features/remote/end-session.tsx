import { IconPlayerStopFilled } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { Button } from '#ui/button.tsx';

type EndSessionProps = Pick<
  ComponentProps<typeof Button>,
  'loading' | 'onClick' | 'size' | 'title' | 'aria-keyshortcuts' | 'aria-label'
>;

/** Ends a remote session. Customer and technician have the same button, once on a page. */
export function EndSession(props: EndSessionProps) {
  return (
    <Button {...props} variant="danger" icon={IconPlayerStopFilled}>
      <span className="nowrap">End session</span>
    </Button>
  );
}
