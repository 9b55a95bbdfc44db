import { IconPlayerStopFilled } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { Button } from '#ui/button.tsx';
import './end-session.css';

type EndSessionProps = Pick<
  ComponentProps<typeof Button>,
  'loading' | 'onClick' | 'size' | 'title' | 'aria-keyshortcuts' | 'aria-label'
>;

/** Ends a remote session. Customer and technician have the same button, once on a page. */
export function EndSession(props: EndSessionProps) {
  return (
    <span className="end-session">
      <Button {...props} icon={IconPlayerStopFilled}>
        End session
      </Button>
    </span>
  );
}
