CREATE VIEW innocent AS FROM ppdm_owner.store;
