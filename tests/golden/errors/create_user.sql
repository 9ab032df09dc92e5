create user bob;
