import type { ComponentPropsWithRef } from 'react';

/** The person's initial. As the kit's menu target it takes the menu's own attributes and its ref. */
export function UserMenuButton({ username, className = '', ...rest }: { username: string } & ComponentPropsWithRef<'button'>) {
  const [initial = '?'] = username;
  return (
    <button type="button" className={`user-menu__button ${className}`} aria-haspopup="menu" {...rest}>
      <span className="user-menu__role">
        Security User <span className="visually-hidden">menu</span>
      </span>
      {/* A picture made of a letter: no part of the button's name. */}
      <span className="avatar" aria-hidden="true">
        {initial.toUpperCase()}
      </span>
    </button>
  );
}
