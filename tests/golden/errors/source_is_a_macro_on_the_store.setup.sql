CREATE MACRO innocent() AS TABLE FROM ppdm_owner.store;
